#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with a run that goes on, and the wires of its sheet, strip and page: connect, replay a recording as
// if it were live, save what was told, go to what an alarm is about, take a what-if into the plan. GUI thread.

#include "models/live_document.h"

#include <array>
#include <functional>

class QStackedWidget;

namespace trainyard {

class ConnectSheet;
class FileActions;
class LivePage;
template <class Page> class PagePlace;
class LiveStrip;
class MessageBar;
class PlanDocument;
class Prompts;
struct WindowModels;
class Workbench;

class LiveActions : public QObject {
    Q_OBJECT
public:
    LiveActions(const WindowModels &models, LiveDocument &live, RunDocument &runs, FileActions &files, Prompts &prompts,
        MessageBar &messages, QWidget *window);

    /// Puts the page and the sheet among the others, and the strip on the workbench.
    void addTo(QStackedWidget &pages, Workbench &workbench);
    /// Made when they are first asked for, the page with the first source at the latest.
    [[nodiscard]] LivePage &page();
    [[nodiscard]] ConnectSheet &sheet();
    [[nodiscard]] QWidget &pagePlace();
    [[nodiscard]] QWidget &sheetPlace();
    [[nodiscard]] LiveStrip &strip() { return *m_strip; } // on the workbench

    /// Errors of address and settings.
    [[nodiscard]] Expected<void> connectTo(const QString &address, const live::SourceSettings &settings);
    /// asks for a recording
    void replay();
    /// the recording that is open
    void replayThis();
    [[nodiscard]] bool canReplayThis() const;
    void save();
    /// asks for a file of alarm rules
    void readAlarmRules();
    /// Asks where sources are connected and what they told is not saved; `then` is called unless the user thought
    /// better of it.
    void afterUnsavedHandled(std::function<void()> then);
    void goTo(const watch::Alarm &alarm);

signals:
    void sheetRequested();
    void pageRequested();
    void workbenchRequested();
    /// the page of plan against run
    void comparisonRequested();
    /// what can be done
    void changed();

private:
    void replay(const QString &path);
    [[nodiscard]] LivePage *makePage();
    [[nodiscard]] ConnectSheet *makeSheet();
    void tellChanges();
    void showPlace(const watch::Alarm &alarm);
    [[nodiscard]] QString fileOf(const QString &title);

    PlanDocument &m_document;
    LiveDocument &m_live;
    RunDocument &m_runs;
    FileActions &m_files;
    Prompts &m_prompts;
    MessageBar &m_messages;
    QWidget *m_window;
    PagePlace<LivePage> *m_page;
    PagePlace<ConnectSheet> *m_sheet;
    LiveStrip *m_strip;
    Workbench *m_workbench = nullptr;
    struct Awaited {
        watch::Alarm alarm;
        std::int64_t step = -1;
    };
    /// whose step is on its way
    std::optional<Awaited> m_awaited;
    std::function<void()> m_afterSave;
    /// what commands ask
    std::array<bool, 5> m_can {};
};

} // namespace trainyard
