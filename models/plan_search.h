#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The planner of the window: settings and pins, a search that runs beside the window at low priority, its rows as they
// come, and the steps from the plan to one of them. Rows stay when the plan is edited and say that they are of an
// earlier one. Lives on the GUI thread.
//
//   search.setPlan(document.plan());
//   search.start(); // rowsAdded() …, then ended()

#include "core/base/newest_worker.h"
#include "core/evaluation/advice/run_pool.h"
#include "models/planner_engine.h"
#include "models/planner_settings.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>

#include <functional>

namespace trainyard {

class PlanSearch : public QObject {
    Q_OBJECT
public:
    enum class State {
        /// nothing was looked for yet
        Empty,
        Searching,
        /// with rows; best() is empty where nothing is feasible within the constraints
        Ended,
        /// refusals() say why
        Refused,
    };
    struct Progress {
        std::uint64_t looked = 0, simulated = 0;
        /// combinations that go together; 0 where they are too many to be looked at whole
        std::uint64_t total = 0;
        /// when it ended: that may be better and were not simulated
        std::uint64_t left = 0;
        /// since the start
        double seconds = 0;
    };
    struct Steps {
        std::size_t row = 0;
        bool isComplete = false;
        std::vector<SearchStep> list;
        /// empty unless there are none for a reason
        std::string refusal;
    };

    explicit PlanSearch(const Catalogue &catalogue, PlannerEngine engine = corePlanner(), QObject *parent = nullptr);
    ~PlanSearch() override;

    /// Another search in place of the one it was made with. Not while one runs.
    void setEngine(PlannerEngine engine);
    /// the document's
    void setPlan(const PlanPtr &plan);
    [[nodiscard]] const PlanPtr &plan() const { return m_plan; }
    [[nodiscard]] const PlannerSettings &settings() const { return m_settings; }
    /// Remembered between sessions. What runs goes on as it was asked for.
    void setSettings(const PlannerSettings &settings);
    [[nodiscard]] bool isPinned(const std::string &key) const { return m_settings.pins.contains(key); }
    void setPinned(const std::string &key, bool isPinned);
    /// Worlds that the plan may meet.
    [[nodiscard]] const std::vector<NamedScenario> &scenarios() const { return m_scenarios; }

    void start();
    /// Keeps the best of what was looked at.
    void stop();
    /// As before the first search.
    void clear();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] bool isStopping() const { return m_isStopping; }
    [[nodiscard]] const Errors &refusals() const { return m_refusals; }
    [[nodiscard]] const Progress &progress() const { return m_progress; }
    [[nodiscard]] const std::vector<SearchRow> &rows() const { return m_rows; }
    /// Null until a search has ended.
    [[nodiscard]] const std::shared_ptr<const SearchResult> &result() const { return m_result; }
    [[nodiscard]] Objective objective() const { return m_asked.objective; } // of the rows
    [[nodiscard]] const SearchOptions &asked() const { return m_asked; }
    /// Rows, best first; of those so far while it searches.
    [[nodiscard]] const std::vector<std::size_t> &best() const { return m_best; }
    /// The row of the plan itself: of one that was adopted, else of that which was searched around. Its money is that
    /// of its cluster as it is, idle GPUs too.
    [[nodiscard]] std::optional<std::size_t> own() const;
    /// What candidates differ from: the plan as it is now; once one of them was adopted, that candidate with the nodes
    /// that adopting gave back, since all of them are told with these.
    [[nodiscard]] PlanPtr planBefore() const;
    /// GPUs in nodes that the plan of a row leaves idle and that it is written without; 0 where they are kept.
    [[nodiscard]] int givesBack(std::size_t row) const;
    /// The plan that was searched around; null before the first search.
    [[nodiscard]] const PlanPtr &searchedPlan() const { return m_searched; }
    /// The plan has been edited since.
    [[nodiscard]] bool isOfEarlierPlan() const;
    /// Settings or pins have changed since.
    [[nodiscard]] bool isOfOtherSettings() const { return m_state != State::Empty && m_settings != m_askedSettings; }
    /// Null where the space of the rows is not known yet.
    [[nodiscard]] PlanPtr planOf(std::size_t row) const;
    /// Hands `then` the same as it is tried and adopted: without the nodes that it leaves idle, unless they are kept.
    /// At once where that is known, else when it has been worked out beside the window. Dropped where another row is
    /// asked for before, the plan is edited, the rows go or `context` is destroyed.
    void withWrittenPlan(std::size_t row, QObject *context, std::function<void(const PlanPtr &plan)> then);
    [[nodiscard]] const std::shared_ptr<const SearchSpace> &space() const { return m_space; }

    /// Steps from the plan to a row, worked out in the background: stepsChanged().
    void askSteps(std::size_t row);
    [[nodiscard]] const std::optional<Steps> &steps() const { return m_steps; }

Q_SIGNALS:
    void started();
    void rowsAdded();
    /// or refused
    void ended();
    void cleared();
    void planChanged(const trainyard::PlanPtr &plan);
    void settingsChanged();
    void stepsChanged();

private:
    struct Question {
        std::uint64_t number = 0;
        PlanPtr plan;
        SearchOptions options;
        std::stop_source stop;
    };
    struct StepQuestion {
        std::uint64_t number = 0;
        std::shared_ptr<const SearchResult> found;
        std::size_t row = 0;
    };
    struct Written {
        /// of the row
        std::uint64_t number = 0;
        PlanPtr plan;
        /// GPUs that it is without
        int gone = 0;
    };
    struct WriteQuestion {
        /// of the search
        std::uint64_t number = 0;
        /// the newest is answered alone
        std::uint64_t turn = 0;
        /// with all its nodes
        Written row;
    };
    struct Awaited {
        std::uint64_t turn = 0;
        QPointer<QObject> context;
        std::function<void(const PlanPtr &)> then;
    };
    struct News;

    void search(const Question &question, const std::stop_token &stop);
    void workOutSteps(const StepQuestion &question, const std::stop_token &stop);
    void workOutWritten(const WriteQuestion &question, const std::stop_token &stop);
    void takeWritten(const WriteQuestion &question, const Written &found, bool isKnown);
    void dropAwaited();
    void takeNews();
    void finish(std::uint64_t number, std::shared_ptr<const SearchResult> found, const Errors &errors);
    void forgetAnswer();
    void rankRows();
    /// The row of the plan that was searched around; kNone: not known.
    [[nodiscard]] std::optional<std::size_t> searchedRow() const;
    /// What the plan costs as it is.
    void payForOwn();

    const Catalogue &m_catalogue;
    PlannerEngine m_engine;
    PlannerSettings m_settings, m_askedSettings;
    PlanPtr m_plan, m_searched;
    std::vector<NamedScenario> m_scenarios;
    State m_state = State::Empty;
    bool m_isStopping = false;
    SearchOptions m_asked;
    /// of what runs
    std::stop_source m_stop;
    Errors m_refusals;
    Progress m_progress;
    QElapsedTimer m_clock;
    std::shared_ptr<const SearchSpace> m_space;
    std::vector<SearchRow> m_rows;
    std::vector<std::size_t> m_best;
    std::shared_ptr<const SearchResult> m_result;
    std::optional<Steps> m_steps;
    /// plans of rows as they were handed out
    std::vector<Written> m_written;
    Awaited m_awaited;
    /// of the newest question; answers to older ones are dropped
    std::uint64_t m_number = 0;
    /// shared with the searching thread
    std::shared_ptr<News> m_news;
    /// last: their threads use everything above
    NewestWorker<Question> m_searcher;
    NewestWorker<StepQuestion> m_stepper;
    NewestWorker<WriteQuestion> m_writer;
};

} // namespace trainyard
