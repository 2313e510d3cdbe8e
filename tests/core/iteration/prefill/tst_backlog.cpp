// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill over successive iterations against queues that can be written down.
#include "core/iteration/prefill/backlog.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace trainyard;

namespace {

constexpr Nanoseconds kMs = 1'000'000;

/// One GPU that is free in [0, free) of every period, and prompts that take `slice`.
ServingPlan oneGpu(Nanoseconds period, Nanoseconds free, Nanoseconds slice, Nanoseconds slo)
{
    ServingPlan plan;
    plan.period = period;
    plan.windows = { { { 0, free } } };
    plan.groups.push_back({ std::vector<ServingGroup::Member>(1), 0 });
    plan.sizes = { { { { slice, 0, 0 } }, 0, 1 } };
    plan.slo = slo;
    return plan;
}

std::vector<SizedRequest> evenly(Nanoseconds period, int count)
{
    std::vector<SizedRequest> requests;
    for (int i = 0; i < count; ++i)
        requests.push_back({ period * i / count, 0 });
    return requests;
}

/// First come, first served: the calendar of one GPU written down without gaps. Times to first token of each iteration.
std::vector<std::vector<Nanoseconds>> queue(const ServingPlan &plan, const std::vector<SizedRequest> &requests, int n)
{
    const Nanoseconds free = plan.windows[0][0].length(), slice = plan.sizes[0].onKind[0].compute;
    std::vector<std::vector<Nanoseconds>> ttfts;
    Nanoseconds next = 0;
    for (int iteration = 0; iteration < n; ++iteration) {
        ttfts.emplace_back();
        for (const SizedRequest &request : requests) {
            const Nanoseconds arrival = iteration * plan.period + request.arrival;
            Nanoseconds start = std::max(next, arrival);
            if (start % plan.period + slice > free)
                start = (start / plan.period + 1) * plan.period;
            next = start + slice;
            ttfts.back().push_back(next - arrival);
        }
    }
    return ttfts;
}

std::vector<Nanoseconds> ttftsOf(const AdmittedRequests &admission)
{
    std::vector<Nanoseconds> ttfts;
    for (const auto &accepted : admission.accepted)
        ttfts.push_back(accepted.ttft);
    return ttfts;
}

} // namespace

class TestBacklog : public QObject {
    Q_OBJECT

private slots:
    /// Whoever waits longest is served first, also over the end of an iteration: the times are those of a queue, and
    /// none of them is that of a request which took the place of an earlier one.
    void aSteadyIterationIsThatOfTheQueueWithoutEnd()
    {
        std::mt19937 random(3);
        int carried = 0;
        for (int trial = 0; trial < 100; ++trial) {
            const Nanoseconds period = 1000 * kMs, slice = Nanoseconds(5 + random() % 20) * kMs;
            const Nanoseconds free = Nanoseconds(200 + random() % 700) * kMs;
            const ServingPlan plan = oneGpu(period, free, slice, 1000 * period);
            const auto held = double(free / slice);
            const int count = int(held * (0.5 + 0.5 * double(random() % 100) / 100));
            std::vector<SizedRequest> requests;
            for (int i = 0; i < count; ++i)
                requests.push_back({ Nanoseconds(random() % std::uint64_t(period)), 0 });
            std::ranges::sort(requests, {}, &SizedRequest::arrival);
            const AdmittedRequests admission = admitRequests(plan, requests);
            QVERIFY(admission.isSettled && !admission.isSaturated);
            const auto reference = queue(plan, requests, 40);
            QCOMPARE(ttftsOf(admission), reference.back());
            carried += reference.front() != reference.back();
        }
        QVERIFY(carried > 20);
    }

    void anIterationThatLeavesNothingOverIsSimulatedOnce()
    {
        // All of ten in the first half: the second iteration is known at its first request.
        std::vector<SizedRequest> requests = evenly(500 * kMs, 10);
        const AdmittedRequests admission = admitRequests(oneGpu(1000 * kMs, 900 * kMs, 10 * kMs, 1000 * kMs), requests);
        QVERIFY(admission.isSettled);
        QCOMPARE(admission.iterations, 2);
        QCOMPARE(admission.accepted.size(), std::size_t(10));
        for (const auto &accepted : admission.accepted)
            QCOMPARE(accepted.ttft, 10 * kMs);
    }

    /// In a steady iteration as much is served as arrives.
    void whatArrivesIsServedAndNothingElse()
    {
        std::mt19937 random(8);
        for (int trial = 0; trial < 50; ++trial) {
            ServingPlan plan = oneGpu(1000 * kMs, 600 * kMs, 7 * kMs, 5000 * kMs);
            plan.groups.resize(3, plan.groups.front());
            for (ServingGroup &group : plan.groups)
                group.members.resize(2);
            const AdmittedRequests admission = admitRequests(plan, evenly(1000 * kMs, int(random() % 255)));
            QVERIFY(admission.isSettled);
            Nanoseconds served = 0;
            for (const auto &slice : admission.slices)
                served += slice.to - slice.from;
            QCOMPARE(served, Nanoseconds(admission.accepted.size()) * 2 * 7 * kMs);
        }
    }

    /// The bubbles hold floor(free / slice) an iteration; of more, requests wait as long as is promised and the rest
    /// are turned away, whatever the promise.
    void underMoreThanBubblesHoldTheWaitIsWhatIsPromised()
    {
        for (const Nanoseconds slo : { 600 * kMs, 3000 * kMs, 100'000 * kMs, 1'000'000'000 * kMs }) {
            const ServingPlan plan = oneGpu(1000 * kMs, 500 * kMs, 10 * kMs, slo);
            const std::vector<SizedRequest> requests = evenly(1000 * kMs, 80);
            const FillLoad load = fillLoad(plan, requests);
            QCOMPARE(load.held, 50.0);
            QVERIFY(load.isSaturated());
            const AdmittedRequests admission = admitRequests(plan, requests);
            QVERIFY(admission.isSettled && admission.isSaturated);
            QVERIFY(std::abs(double(admission.accepted.size()) - 50) <= 1);
            QCOMPARE(admission.refused[std::size_t(Refusal::Full)], 80 - std::int64_t(admission.accepted.size()));
            Nanoseconds served = 0;
            for (const auto &slice : admission.slices)
                served += slice.to - slice.from;
            QVERIFY(std::abs(double(served - 500 * kMs)) <= double(10 * kMs));
            std::vector<Nanoseconds> ttfts = ttftsOf(admission);
            std::ranges::sort(ttfts);
            QVERIFY(ttfts.back() <= slo);
            QVERIFY(ttfts.front() > slo - 600 * kMs); // a window is missed at most
        }
    }

    void fasterGpusHoldMoreAndTheScarcestOfAGroupDecides()
    {
        ServingPlan plan = oneGpu(1000, 500, 10, 1000);
        plan.windows.push_back({ { 0, 95 }, { 200, 295 } });
        plan.groups.front().members.push_back({ 1, 0 });
        QCOMPARE(fillLoad(plan, evenly(1000, 4)).held, 18.0); // twice floor(95 / 10)
        plan.groups.push_back(plan.groups.front());
        QCOMPARE(fillLoad(plan, evenly(1000, 4)).held, 36.0);
        QCOMPARE(fillLoad(plan, {}).held, 0.0);
        plan.sizes.push_back({ { { 20, 0, 0 } }, 0, 1 }); // twice 2 x 4
        std::vector<SizedRequest> mixed = evenly(1000, 4);
        mixed[1].size = mixed[3].size = 1;
        QVERIFY(std::abs(fillLoad(plan, mixed).held - 4 / (2 / 36.0 + 2 / 16.0)) < 1e-9);
    }

    /// Poisson arrivals at a pool without queue: Erlang's formula, whatever the time that they stay.
    void aDecodePoolTurnsAwayByErlangsFormula()
    {
        constexpr int kRooms = 5, kArrivals = 60'000;
        constexpr double kOffered = 4;
        ServingPlan plan = oneGpu(Nanoseconds(kArrivals) * 10 * kMs, Nanoseconds(kArrivals) * 10 * kMs, 1, kMs);
        plan.groups.resize(50, plan.groups.front());
        plan.decode = DecodeCapacity { kRooms, 1, 1, Nanoseconds(kOffered * 10 * double(kMs)) };
        std::mt19937_64 random(2);
        std::vector<SizedRequest> requests;
        std::exponential_distribution<double> gap(1 / (10 * double(kMs)));
        for (double t = gap(random); t < double(plan.period) - 1; t += gap(random))
            requests.push_back({ Nanoseconds(t), 0 });
        const AdmittedRequests admission = admitRequests(plan, requests);
        double blocked = 1;
        for (int room = 1; room <= kRooms; ++room)
            blocked = kOffered * blocked / (room + kOffered * blocked);
        const double share = double(admission.refused[std::size_t(Refusal::Decode)]) / double(requests.size());
        QVERIFY2(std::abs(share - blocked) < 0.01, qPrintable(QString::number(share)));
        QCOMPARE(admission.refused[std::size_t(Refusal::Decode)] + std::int64_t(admission.accepted.size()),
            std::int64_t(requests.size()));
    }

    /// No datacenter has as many stages as the served model is spread over.
    void withoutGpusThatCanServeAllIsTurnedAway()
    {
        ServingPlan plan = oneGpu(1000 * kMs, 600 * kMs, 7 * kMs, 5000 * kMs);
        plan.groups.clear();
        const AdmittedRequests admission = admitRequests(plan, evenly(plan.period, 20), {});
        QVERIFY(admission.accepted.empty() && admission.slices.empty());
        QCOMPARE(admission.refused[std::size_t(Refusal::Window)], std::int64_t(20));
    }

    void nothingArrivesAndNothingIsServed()
    {
        const AdmittedRequests none = admitRequests(oneGpu(1000, 500, 10, 1000), {});
        QVERIFY(none.isSettled && !none.isSaturated && none.accepted.empty() && none.slices.empty());
        QCOMPARE(none.iterations, 0);
    }

    void quantilesAreValuesThatOccur()
    {
        const std::vector<Nanoseconds> sorted { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
        QCOMPARE(quantile(sorted, 0.5), 5);
        QCOMPARE(quantile(sorted, 0.95), 10);
        QCOMPARE(quantile(sorted, 0), 1);
    }
};

TRAINYARD_APPLESS_TEST(TestBacklog)
#include "tst_backlog.moc"
