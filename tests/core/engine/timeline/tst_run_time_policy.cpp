// SPDX-License-Identifier: GPL-3.0-or-later
// Policies that no schedule has: whatever decides is asked when its resource is free, sees what has arrived, and is
// obeyed.
#include "tests/core/engine/timeline/tasks.h"
#include "tests/support/test_program.h"

#include <functional>

using namespace tasks;

namespace {

/// Of what has arrived the first by a rule of its own; keeps what it was asked.
class Choose : public RunTimePolicy {
public:
    using IsBefore = bool (*)(const TaskGraph &graph, std::uint32_t a, std::uint32_t b);

    explicit Choose(IsBefore isBefore, bool knowsItsOwn = false)
        : m_isBefore(isBefore)
        , m_knowsItsOwn(knowsItsOwn)
    {
    }

    [[nodiscard]] std::uint32_t take(const Choosing &at) const override
    {
        ++asked;
        std::uint32_t best = kNoSpan;
        for (std::uint32_t task = at.graph.resources[at.resource].track.first; task < at.last(); ++task)
            if (at.isHere(task) && !at.isBegun(task) && (best == kNoSpan || m_isBefore(at.graph, task, best)))
                best = task;
        return best;
    }
    [[nodiscard]] bool knowsItsOwn() const override { return m_knowsItsOwn; }

    mutable int asked = 0;

private:
    IsBefore m_isBefore;
    bool m_knowsItsOwn;
};

bool isLonger(const TaskGraph &graph, std::uint32_t a, std::uint32_t b)
{
    return graph.table.durations[graph.taskClass[a]] > graph.table.durations[graph.taskClass[b]];
}

bool isFirst(const TaskGraph &, std::uint32_t a, std::uint32_t b)
{
    return a < b;
}
bool isLast(const TaskGraph &, std::uint32_t a, std::uint32_t b)
{
    return a > b;
}

/// Takes nothing until everything is here, then all in order.
class Patient : public RunTimePolicy {
public:
    [[nodiscard]] std::uint32_t take(const Choosing &at) const override
    {
        for (std::uint32_t task = at.notes().head; task < at.last(); ++task)
            if (!at.isHere(task))
                return kNoSpan;
        return at.notes().head < at.last() ? at.notes().head++ : kNoSpan;
    }
};

class Never : public RunTimePolicy {
public:
    [[nodiscard]] std::uint32_t take(const Choosing &) const override { return kNoSpan; }
};

} // namespace

class TestRunTimePolicy : public QObject {
    Q_OBJECT
private slots:
    // All are here at 0: by length, the longest first, each as the one before it ends.
    void theLongestFirst()
    {
        const Choose longest(isLonger);
        std::mt19937 random(41);
        Tasks list;
        list.resource(Discipline::ByPolicy, Stream::Compute, &longest);
        std::vector<Nanoseconds> durations(40);
        for (Nanoseconds &duration : durations)
            list.task(duration = static_cast<Nanoseconds>(1 + random() % 1000));
        const Timeline timeline = run(list.graph());
        std::ranges::sort(durations, std::greater {});
        Nanoseconds at = 0;
        for (std::uint32_t span = 0; span < durations.size(); ++span) {
            QCOMPARE(timeline.start[span], at);
            at += durations[span];
            QCOMPARE(timeline.end[span], at);
        }
        QVERIFY(longest.asked >= 40);
    }

    // A resource may rest although it could work: start of the first = the last arrival.
    void aPolicyMayWait()
    {
        const Patient patient;
        Tasks list;
        list.resource(Discipline::ByPolicy, Stream::Compute, &patient);
        list.task(10);
        list.task(10, { { 3, 0 } });
        list.task(10);
        list.resource();
        list.task(75);
        QCOMPARE(run(list.graph()).start, (std::vector<Nanoseconds> { 75, 85, 95, 0 }));
    }

    // Task 1 follows task 0 on the same resource, task 2 has been there since 0. As task 0 ends, who knows its own
    // results at once finds both; else task 1 arrives only after the freed resource has chosen.
    void whoKnowsItsOwnResultsChoosesAmongThem()
    {
        const auto starts = [](bool knowsItsOwn) {
            const Choose first(isFirst, knowsItsOwn);
            Tasks list;
            list.resource(Discipline::ByPolicy, Stream::Compute, &first);
            list.task(10);
            list.task(10, { { 0 } });
            list.task(10);
            return run(list.graph()).microBatch;
        };
        QCOMPARE(starts(true), (std::vector<std::int32_t> { 0, 1, 2 }));
        QCOMPARE(starts(false), (std::vector<std::int32_t> { 0, 2, 1 }));
    }

    // Task 1 goes on with task 0: it comes next although the policy prefers task 2, and is waited for until 30.
    void whatGoesOnIsNotAskedFor()
    {
        const Choose last(isLast);
        ClassTable table;
        table.clear();
        const std::uint32_t ten = table.add(WorkKind::Forward, 10), thirty = table.add(WorkKind::Forward, 30),
                            five = table.add(WorkKind::Forward, 5);
        GraphBuilder builder(table);
        const auto chosen = builder.resource({ .stage = 0 }, Discipline::ByPolicy, &last),
                   other = builder.resource({ .stage = 1 });
        builder.task(chosen, ten);
        const auto goesOn = builder.task(chosen, ten, { -1, 0, true }), third = builder.task(chosen, ten);
        builder.task(other, five);
        builder.after(third, builder.taskCount() - 1); // here from 5 on
        builder.after(goesOn, builder.task(other, thirty)); // from 35 on
        const auto graph = std::move(builder).finish();
        QVERIFY(graph.has_value());
        QCOMPARE(run(*graph).start, (std::vector<Nanoseconds> { 0, 35, 45, 0, 5 }));
    }

    // Two resources of one policy: each has notes of its own.
    void notesAreOfOneResource()
    {
        const Patient patient;
        Tasks list;
        for (int r = 0; r < 2; ++r) {
            list.resource(Discipline::ByPolicy, Stream::Compute, &patient);
            list.task(10);
            list.task(20);
        }
        QCOMPARE(run(list.graph()).start, (std::vector<Nanoseconds> { 0, 10, 0, 10 }));
    }

    // Another run of the same graph in the same workspace begins from nothing.
    void aPolicyIsAskedTheSameAgain()
    {
        const Patient patient;
        Tasks list;
        list.resource(Discipline::ByPolicy, Stream::Compute, &patient);
        list.task(10);
        list.task(20);
        const TaskGraph graph = list.graph();
        SimulationWorkspace workspace;
        const auto first = simulate(graph, workspace), second = simulate(graph, workspace);
        QVERIFY(first && second);
        QCOMPARE(first->start, second->start);
    }

    void aPolicyThatTakesNothingIsAnError()
    {
        const Never never;
        Tasks list;
        list.resource(Discipline::ByPolicy, Stream::Compute, &never);
        list.task(10);
        SimulationWorkspace workspace;
        const auto timeline = simulate(list.graph(), workspace);
        QVERIFY(!timeline);
        QCOMPARE(timeline.error().code, ErrorCode::Internal);
    }
};

TRAINYARD_APPLESS_TEST(TestRunTimePolicy)
#include "tst_run_time_policy.moc"
