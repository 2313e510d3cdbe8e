#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Arrangements of panels in the window: shown by menu, key and name, saved, renamed and removed. Remembers which was
// shown last; how the panels lie is remembered with the window's layout. GUI thread.

#include "models/arrangements.h"

namespace trainyard {

class ArrangementList;
class CommandRegistry;
class MainWindow;

class ArrangementActions : public QObject {
    Q_OBJECT
public:
    /// Own arrangements that have a key.
    static constexpr int kOwnKeys = 5;

    explicit ArrangementActions(MainWindow &window);

    [[nodiscard]] ArrangementStore &store() { return m_store; }
    [[nodiscard]] ArrangementList &list() { return *m_list; }
    /// Name of the arrangement that was shown last, until the layout is reset; empty: none.
    [[nodiscard]] const QString &shown() const { return m_shown; }
    /// False: there is none of that name.
    bool show(const QString &name);
    void save(const QString &name);
    void openList();
    void reset();

private:
    void remember(const QString &name);
    void showOwnCommands();

    MainWindow &m_window;
    ArrangementStore m_store;
    ArrangementList *m_list;
    QString m_shown;
};

void addArrangementCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
