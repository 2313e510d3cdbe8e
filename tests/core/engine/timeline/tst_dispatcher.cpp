// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/dispatcher.h"
#include "core/engine/timeline/simulator.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <deque>
#include <utility>

using namespace trainyard;

namespace {

struct Begun {
    std::uint32_t resource, taskClass;
    Nanoseconds earliest = 0;
    int minibatch = 0;
};

/// Begins what it was given in order, each as soon as its resource is free and its time has come.
class InOrder : public Dispatcher {
public:
    explicit InOrder(std::deque<Begun> all)
        : left(std::move(all))
    {
    }

    void ended(Dispatch &at, std::uint32_t task) override
    {
        isBusy[resourceOf[task]] = false;
        told.emplace_back(at.now(), task);
    }
    void choose(Dispatch &at) override
    {
        ++choices;
        while (!left.empty() && !isBusy[left.front().resource]) {
            const Begun next = left.front();
            if (next.earliest > at.now())
                return at.wakeAt(next.earliest);
            left.pop_front();
            isBusy[next.resource] = true;
            resourceOf.resize(at.begin(next.resource, next.taskClass, { next.minibatch, 0 }, last) + 1, next.resource);
            last = std::uint32_t(resourceOf.size()) - 1;
        }
    }
    [[nodiscard]] std::string leftOver() const override { return left.empty() ? "" : "something is left"; }

    std::deque<Begun> left;
    std::vector<std::uint32_t> resourceOf;
    bool isBusy[4] = {};
    std::uint32_t last = kNoSpan;
    std::vector<std::pair<Nanoseconds, std::uint32_t>> told;
    int choices = 0;
};

struct Yard {
    ClassTable table;
    std::uint32_t ten, five, none, flow;

    Yard()
    {
        table.clear();
        ten = table.add(WorkKind::Forward, Nanoseconds { 10 });
        five = table.add(WorkKind::Backward, Nanoseconds { 5 });
        none = table.add(WorkKind::Optimizer, Nanoseconds { 0 });
        Flow shared;
        shared.bytes = 100;
        shared.rateCap = 10;
        shared.links = { 0 };
        table.flows.push_back(shared);
        flow = table.add(WorkKind::WeightsToGpu, Nanoseconds { 10 }, 100, 0);
        table.linkCapacity = { 10 };
    }
    [[nodiscard]] TaskGraph graph() const
    {
        GraphBuilder builder(table);
        for (int gpu = 0; gpu < 2; ++gpu)
            builder.resource({ .stage = gpu });
        return *std::move(builder).finish();
    }
};

} // namespace

class TestDispatcher : public QObject {
    Q_OBJECT

private slots:
    void init() { m_timeline = {}; }

    void spansLieTrackByTrackInOrderOfStart()
    {
        const Yard yard;
        InOrder order({ { 0, yard.ten, 0, 7 }, { 1, yard.five, 0, 8 }, { 1, yard.ten, 0, 9 }, { 0, yard.five } });
        QVERIFY(simulateInto(m_timeline, yard.graph(), m_workspace, order));
        QCOMPARE(m_timeline.start, (std::vector<Nanoseconds> { 0, 10, 0, 5 }));
        QCOMPARE(m_timeline.end, (std::vector<Nanoseconds> { 10, 15, 5, 15 }));
        QCOMPARE(m_timeline.tracks[0].first, 0u);
        QCOMPARE(m_timeline.tracks[0].last, 2u);
        QCOMPARE(m_timeline.tracks[1].last, 4u);
        QCOMPARE(m_timeline.trackOf, (std::vector<std::uint32_t> { 0, 0, 1, 1 }));
        QCOMPARE(m_timeline.microBatch, (std::vector<std::int32_t> { 7, 0, 8, 9 }));
        QCOMPARE(m_timeline.kind[1], WorkKind::Backward);
        QCOMPARE(m_timeline.duration, Nanoseconds { 15 });
        // causes, in the numbers of the spans: each was begun after the one before in the list
        QCOMPARE(m_timeline.cause, (std::vector<std::uint32_t> { kNoSpan, 3, 0, 2 }));
    }

    void whatEndsAtOneInstantIsToldByResourceBeforeTheChoice()
    {
        const Yard yard;
        InOrder order({ { 1, yard.ten }, { 0, yard.ten } });
        QVERIFY(simulateInto(m_timeline, yard.graph(), m_workspace, order));
        QCOMPARE(order.told, (std::vector<std::pair<Nanoseconds, std::uint32_t>> { { 10, 1 }, { 10, 0 } }));
        QCOMPARE(order.choices, 2); // at 0 and at 10
    }

    void anArrivalWakesItAndATaskWithoutDurationMakesAnotherRound()
    {
        const Yard yard;
        InOrder order({ { 0, yard.none, 3 }, { 0, yard.five } });
        QVERIFY(simulateInto(m_timeline, yard.graph(), m_workspace, order));
        QCOMPARE(m_timeline.start, (std::vector<Nanoseconds> { 3, 3 }));
        QCOMPARE(m_timeline.duration, Nanoseconds { 8 });
    }

    void aClassMayBeAppendedAndTakenWhenATaskHasEnded()
    {
        // What a unit leaves behind is known when the next has been chosen: then the dispatcher says its class again.
        struct Late final : InOrder {
            Late(std::deque<Begun> all, ClassTable &classes)
                : InOrder(std::move(all))
                , table(classes)
            {
            }
            void ended(Dispatch &at, std::uint32_t task) override
            {
                InOrder::ended(at, task);
                const std::uint32_t made = table.add(WorkKind::Recompute, Nanoseconds { 10 });
                table.about[made].memory.atEnd.gpu = 7;
                at.reclass(task, made);
            }
            ClassTable &table;
        };
        const Yard yard;
        TaskGraph graph = yard.graph();
        Late order({ { 0, yard.ten } }, graph.table);
        QVERIFY(simulateInto(m_timeline, graph, m_workspace, order));
        QCOMPARE(m_timeline.kind[0], WorkKind::Recompute);
        QCOMPARE(m_timeline.classOf(0).memory.atEnd.gpu, 7.0);
    }

    void flowsShareTheirLink()
    {
        // Two of 100 bytes over a link of 10 bytes a nanosecond, alone 10 ns each: together 20.
        const Yard yard;
        InOrder order({ { 0, yard.flow }, { 1, yard.flow } });
        QVERIFY(simulateInto(m_timeline, yard.graph(), m_workspace, order));
        QCOMPARE(m_timeline.end, (std::vector<Nanoseconds> { 20, 20 }));
        QCOMPARE(m_timeline.bytesMoved(0) + m_timeline.bytesMoved(1), 200.0);
    }

    void theGraphsOwnTasksRunBeside()
    {
        const Yard yard;
        GraphBuilder builder(yard.table);
        builder.resource({ .stage = 0 });
        const auto own = builder.resource({ .stage = 1 });
        const auto first = builder.task(own, yard.flow);
        builder.after(builder.task(own, yard.five), first);
        InOrder order({ { 0, yard.ten }, { 0, yard.flow } });
        const TaskGraph graph = *std::move(builder).finish();
        QVERIFY(simulateInto(m_timeline, graph, m_workspace, order));
        QCOMPARE(m_timeline.start, (std::vector<Nanoseconds> { 0, 10, 0, 10 }));
        QCOMPARE(m_timeline.end, (std::vector<Nanoseconds> { 10, 20, 10, 15 }));
        QCOMPARE(m_timeline.cause[3], 2u);
    }

    void workThatIsLeftIsAnError()
    {
        const Yard yard;
        InOrder order({ { 0, yard.ten } });
        order.isBusy[0] = true;
        const auto ran = simulateInto(m_timeline, yard.graph(), m_workspace, order);
        QVERIFY(!ran);
        QCOMPARE(ran.error().what, std::string("something is left"));
    }

private:
    SimulationWorkspace m_workspace;
    Timeline m_timeline;
};

TRAINYARD_APPLESS_TEST(TestDispatcher)
#include "tst_dispatcher.moc"
