#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The meeting within the window: variants, their chips, their board and their comparison, and the wires between the
// session, the document and the bridge. Files are views/window/file_actions. GUI thread.

#include "models/session/session_document.h"
#include "models/session/variant_figures.h"

namespace trainyard {

class BoardPage;
class ComparePage;
template <class Page> class PagePlace;
class ExportActions;
class LoadedRuns;
class MessageBar;
class VariantStrip;
class Workbench;
struct WindowModels;

class SessionActions : public QObject {
    Q_OBJECT
public:
    SessionActions(const WindowModels &models, SessionDocument &session, LoadedRuns &runs, Workbench &workbench,
        MessageBar &messages, QObject *parent);

    [[nodiscard]] SessionDocument &session() { return m_session; }
    [[nodiscard]] VariantFigures &figures() { return m_figures; }
    [[nodiscard]] BoardPage &board() { return *m_board; }
    /// Made when it is first asked for: two timelines are much to begin with.
    [[nodiscard]] ComparePage &comparison();
    /// in which it stands, from the beginning
    [[nodiscard]] QWidget &comparisonPlace();
    [[nodiscard]] VariantStrip &strip() { return *m_strip; }
    void branch();
    void remove();
    /// Beside the baseline or, without one, the first; of that, its neighbour or, where it is alone, a run. Empty: the
    /// one that is shown.
    void compare(const std::string &id = {});
    /// The variant that is shown beside the run that lies under it, else beside the first.
    void compareWithRun();
    /// There is something else than the variant that is shown.
    [[nodiscard]] bool canCompare() const;

Q_SIGNALS:
    void boardRequested();
    void workbenchRequested();
    void comparisonRequested();
    void saveRequested();
    void exportRequested();
    /// what can be done
    void changed();

private:
    void wire();
    void wireOthers();
    /// The bridge's baseline is the session's.
    void pinBaseline(bool isOther);
    [[nodiscard]] std::string view() const;
    void restoreView(const std::string &view);

    /// of the bridge, as far as it is the session's
    std::string m_pinned;
    const WindowModels &m_models;
    SessionDocument &m_session;
    LoadedRuns &m_runs;
    Workbench &m_workbench;
    MessageBar &m_messages;
    VariantFigures m_figures;
    VariantStrip *m_strip;
    BoardPage *m_board;
    PagePlace<ComparePage> *m_comparison;
};

} // namespace trainyard
