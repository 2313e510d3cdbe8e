// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/backlog.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace trainyard;

namespace {

constexpr Nanoseconds kMs = 1'000'000;

/// Groups of `p` GPUs, all with the same windows, and prompts of one length.
ServingPlan aligned(
    Nanoseconds period, std::vector<FreeWindow> windows, int groups, int p, SliceTime slice, Nanoseconds slo)
{
    ServingPlan plan;
    plan.period = period;
    plan.windows = { std::move(windows) };
    plan.sizes = { { { slice }, 0, 1 } };
    plan.slo = slo;
    for (int g = 0; g < groups; ++g)
        plan.groups.push_back({ std::vector<ServingGroup::Member>(std::size_t(p)), 0 });
    return plan;
}

std::vector<SizedRequest> everyTick(Nanoseconds from, Nanoseconds to, Nanoseconds step)
{
    std::vector<SizedRequest> requests;
    for (Nanoseconds t = from; t < to; t += step)
        requests.push_back({ t, 0 });
    return requests;
}

double fillOf(const ServingPlan &plan, const AdmittedRequests &admission, std::size_t gpus)
{
    double idle = 0, filled = 0;
    for (const FreeWindow &w : plan.windows.front())
        idle += double(w.length());
    for (const AdmittedRequests::Slice &slice : admission.slices)
        filled += double(slice.to - slice.from);
    return filled / (idle * double(gpus));
}

/// Windows that leave some training between them.
std::vector<FreeWindow> randomWindows(std::mt19937 &random, Nanoseconds period)
{
    std::vector<FreeWindow> windows;
    for (Nanoseconds at = 1 + Nanoseconds(random() % 30); at < period - 45; at += 1 + Nanoseconds(random() % 20)) {
        windows.push_back({ at, at + 1 + Nanoseconds(random() % 40) });
        at = windows.back().end;
    }
    if (!windows.empty() && random() % 2 == 0)
        windows.back().end = period + windows.front().start - 1; // into the next iteration
    return windows;
}

ServingPlan randomPlan(std::mt19937 &random)
{
    ServingPlan plan;
    plan.period = 300;
    for (int set = 0; set < 3; ++set)
        plan.windows.push_back(randomWindows(random, plan.period));
    const int p = 1 + int(random() % 3), kinds = 2, sizes = 1 + int(random() % 2);
    for (int s = 0; s < sizes; ++s) {
        PromptSize size;
        for (int k = 0; k < kinds; ++k)
            size.onKind.push_back(
                { 2 + Nanoseconds(random() % 9), Nanoseconds(random() % 4), Nanoseconds(random() % 9) });
        size.kvSlice = s == 0 ? 1 : 5;
        plan.sizes.push_back(size);
    }
    for (int g = 0; g < 1 + int(random() % 4); ++g) {
        ServingGroup group;
        for (int j = 0; j < p; ++j)
            group.members.push_back({ int(random() % 3), int(random() % kinds) });
        group.room = random() % 4 == 0 ? 11 : 20;
        plan.groups.push_back(group);
    }
    plan.weightSlice = 8;
    plan.slo = 20 + Nanoseconds(random() % 400);
    plan.firstTokenFromDecode = random() % 2 == 0;
    return plan;
}

std::vector<SizedRequest> randomRequests(std::mt19937 &random, const ServingPlan &plan)
{
    std::vector<SizedRequest> requests;
    for (Nanoseconds t = 0; t < plan.period; t += Nanoseconds(random() % 12))
        requests.push_back({ t, int(random() % plan.sizes.size()) });
    return requests;
}

constexpr int kIterations = 4;

/// The rules written down without any index: a calendar of nanoseconds for each GPU, every group tried for every
/// request.
class BruteForce {
public:
    explicit BruteForce(const ServingPlan &plan)
        : m_plan(plan)
    {
        const Nanoseconds length = plan.period * (kIterations + 12);
        for (const ServingGroup &group : plan.groups) {
            auto &calendars = m_isFree.emplace_back();
            for (const auto &member : group.members) {
                auto &isFree = calendars.emplace_back(std::size_t(length), false);
                for (Nanoseconds begin = -plan.period; begin < length; begin += plan.period)
                    for (const FreeWindow &w : plan.windows[std::size_t(member.windows)])
                        for (Nanoseconds t = std::max<Nanoseconds>(0, begin + w.start);
                             t < std::min(length, begin + w.end); ++t)
                            isFree[std::size_t(t)] = true;
            }
        }
    }

    /// The earliest end that any group offers within the time promised, or -1.
    Nanoseconds earliestEnd(const SizedRequest &request)
    {
        Nanoseconds best = -1;
        for (std::size_t g = 0; g < m_plan.groups.size(); ++g) {
            const Nanoseconds end = endOn(g, request).first;
            if (end >= 0 && end - request.arrival + request.waited <= m_plan.slo && (best < 0 || end < best))
                best = end;
        }
        return best;
    }

    /// Where the slices lie on one group, which are taken.
    std::vector<Nanoseconds> take(std::size_t g, const SizedRequest &request)
    {
        const std::vector<Nanoseconds> starts = endOn(g, request).second;
        for (std::size_t j = 0; j < starts.size(); ++j)
            std::fill_n(m_isFree[g][j].begin() + starts[j], slice(g, j, request).slot(), false);
        return starts;
    }

    std::pair<Nanoseconds, std::vector<Nanoseconds>> endOn(std::size_t g, const SizedRequest &request)
    {
        std::vector<Nanoseconds> starts;
        const Nanoseconds end = tryGroup(g, request, starts);
        return { end, starts };
    }

private:
    [[nodiscard]] const SliceTime &slice(std::size_t g, std::size_t j, const SizedRequest &request) const
    {
        return m_plan.slice(std::size_t(request.size), m_plan.groups[g].members[j]);
    }

    Nanoseconds tryGroup(std::size_t g, const SizedRequest &request, std::vector<Nanoseconds> &places)
    {
        if (m_plan.weightSlice + 2 * m_plan.sizes[std::size_t(request.size)].kvSlice > m_plan.groups[g].room)
            return -1;
        Nanoseconds time = request.arrival, end = -1;
        for (std::size_t j = 0; j < m_plan.groups[g].members.size(); ++j) {
            const SliceTime &s = slice(g, j, request);
            const Nanoseconds limit = time + 8 * m_plan.period; // longer than is promised
            while (time < limit && !isFree(m_isFree[g][j], time, s.slot()))
                ++time;
            if (time == limit)
                return -1;
            places.push_back(time);
            end = time + s.compute + (m_plan.firstTokenFromDecode ? s.kvMove : 0);
            time += s.compute + s.hop;
            if (time > request.arrival + 2 * m_plan.slo)
                return -1;
        }
        return end;
    }

    [[nodiscard]] static bool isFree(const std::vector<bool> &calendar, Nanoseconds start, Nanoseconds length)
    {
        return std::all_of(
            calendar.begin() + start, calendar.begin() + start + length, [](bool isFree) { return isFree; });
    }

    const ServingPlan &m_plan;
    std::vector<std::vector<std::vector<bool>>> m_isFree; // group, member, nanosecond
};

} // namespace

class TestController : public QObject {
    Q_OBJECT

private slots:
    void itAdmitsLikeATrialOfEveryGroupAtEveryNanosecond()
    {
        std::mt19937 random(5);
        int accepted = 0, rejected = 0, later = 0;
        for (int trial = 0; trial < 200; ++trial) {
            const ServingPlan plan = randomPlan(random);
            const std::vector<SizedRequest> requests = randomRequests(random, plan);
            BruteForce brute(plan);
            Controller controller(plan);
            for (std::size_t i = 0; i < requests.size() * kIterations; ++i) {
                SizedRequest request = requests[i % requests.size()];
                request.arrival += Nanoseconds(i / requests.size()) * plan.period;
                const Nanoseconds end = brute.earliestEnd(request);
                const auto placement = controller.place(std::size_t(request.size), request.arrival);
                QCOMPARE(placement.has_value(), end >= 0);
                if (!placement) {
                    ++rejected;
                    continue;
                }
                ++accepted;
                later += controller.starts().front() >= request.arrival + plan.period;
                QCOMPARE(placement->firstToken, end);
                QCOMPARE(brute.endOn(placement->group, request).first, end); // of equally early ones any will do
                QCOMPARE(controller.starts(), brute.take(placement->group, request));
            }
        }
        QVERIFY(accepted > 4000 && rejected > 4000); // both answers were tried
        QVERIFY(later > 100);
    }

    void slicesNeverOverlapOnAGpuAndLieInsideItsWindows()
    {
        std::mt19937 random(23);
        int slices = 0;
        for (int trial = 0; trial < 200; ++trial) {
            const ServingPlan plan = randomPlan(random);
            const AdmittedRequests admission = admitRequests(plan, randomRequests(random, plan));
            std::vector<std::vector<std::vector<int>>> jobs(plan.groups.size()); // group, member, nanosecond
            for (std::size_t g = 0; g < plan.groups.size(); ++g)
                jobs[g].assign(plan.groups[g].members.size(), std::vector<int>(std::size_t(plan.period), 0));
            for (const AdmittedRequests::Slice &slice : admission.slices) {
                const ServingGroup::Member &member = plan.groups[slice.group].members[slice.member];
                QVERIFY(slice.from >= 0 && slice.from < plan.period && slice.to > slice.from);
                QVERIFY(std::ranges::any_of(plan.windows[std::size_t(member.windows)], [&](const FreeWindow &w) {
                    return (w.start <= slice.from && slice.to <= w.end)
                        || (w.start <= slice.from + plan.period && slice.to + plan.period <= w.end);
                }));
                for (Nanoseconds t = slice.from; t < slice.to; ++t)
                    QCOMPARE(++jobs[slice.group][slice.member][std::size_t(t % plan.period)], 1);
                ++slices;
            }
            for (const auto &accepted : admission.accepted)
                QVERIFY(accepted.ttft <= plan.slo);
        }
        QVERIFY(slices > 2000);
    }

    void oneWindowOfAlignedGpusFillsByTheClosedForm_data()
    {
        QTest::addColumn<int>("p");
        QTest::addColumn<double>("windowMs");
        QTest::addColumn<double>("sliceMs");
        QTest::newRow("one GPU") << 1 << 100.0 << 7.0;
        QTest::newRow("two GPUs") << 2 << 100.0 << 7.0;
        QTest::newRow("eight GPUs") << 8 << 100.0 << 7.0;
        QTest::newRow("exact division") << 4 << 100.0 << 10.0;
        QTest::newRow("just too short") << 8 << 55.0 << 7.0;
        QTest::newRow("just long enough") << 8 << 56.0 << 7.0;
    }

    void oneWindowOfAlignedGpusFillsByTheClosedForm()
    {
        // (floor(g/d) - p + 1) d / g; isolated, p = 1: floor(g/d) d / g. Nothing else is reached within the time
        // promised.
        QFETCH(int, p);
        QFETCH(double, windowMs);
        QFETCH(double, sliceMs);
        const auto g = Nanoseconds(windowMs * kMs), d = Nanoseconds(sliceMs * kMs);
        const ServingPlan plan = aligned(1000 * kMs, { { 500 * kMs, 500 * kMs + g } }, 1, p, { d, 0, 0 }, 300 * kMs);
        const AdmittedRequests admission = admitRequests(plan, everyTick(300 * kMs, 600 * kMs, kMs));
        const double served = std::max(0.0, std::floor(windowMs / sliceMs) - p + 1);
        QCOMPARE(fillOf(plan, admission, std::size_t(p)), served * sliceMs / windowMs);
    }

    void bubblesOfAtlasFillToNineTenthsUnderSaturation()
    {
        // 45 % utilization needs a fill of 0.89 to become 94 %: seconds of bubble, slices of tens of milliseconds.
        const std::vector<FreeWindow> windows { { 2000 * kMs, 5100 * kMs }, { 9000 * kMs, 16'300 * kMs },
            { 21'000 * kMs, 22'250 * kMs }, { 27'000 * kMs, 36'000 * kMs } };
        const ServingPlan plan = aligned(35'000 * kMs, windows, 4, 4, { 41 * kMs, kMs / 2, kMs }, 1000 * kMs);
        const AdmittedRequests admission = admitRequests(plan, everyTick(0, 35'000 * kMs, 5 * kMs));
        QVERIFY2(fillOf(plan, admission, 16) >= 0.89, qPrintable(QString::number(fillOf(plan, admission, 16))));
    }

    void timeToFirstTokenIsWaitSlicesAndHops()
    {
        // wait + p d + (p - 1) hop (+ the move of keys and values where the decode GPU speaks first)
        ServingPlan plan = aligned(1000, { { 100, 900 } }, 1, 3, { 20, 5, 7 }, 500);
        QCOMPARE(admitRequests(plan, { { 40, 0 } }).accepted.front().ttft, Nanoseconds(60 + 3 * 20 + 2 * 5));
        plan.firstTokenFromDecode = true;
        QCOMPARE(admitRequests(plan, { { 40, 0 } }).accepted.front().ttft, Nanoseconds(60 + 3 * 20 + 2 * 5 + 7));
        plan.decode = DecodeCapacity { .requests = 1, .gpusOfReplica = 1, .step = 9, .stay = 90 };
        QCOMPARE(admitRequests(plan, { { 40, 0 } }).accepted.front().ttft, Nanoseconds(60 + 3 * 20 + 2 * 5 + 7 + 9));
    }

    void prefillKeepsThePaceOfItsKeysAndValues()
    {
        // Moving them takes 30, a slice 20: one prompt every 30 instead of every 20.
        const ServingPlan plan = aligned(1000, { { 0, 300 } }, 1, 1, { 20, 0, 30 }, 290);
        QCOMPARE(admitRequests(plan, std::vector<SizedRequest>(20)).accepted.size(), std::size_t(10));
    }

    void everyRefusalHasItsReason()
    {
        const auto refused = [](const ServingPlan &plan, const std::vector<SizedRequest> &requests, Refusal why) {
            return admitRequests(plan, requests).refused[std::size_t(why)];
        };
        ServingPlan plan = aligned(1000, { { 500, 600 } }, 1, 1, { 30, 0, 0 }, 2000);
        plan.sizes[0].kvSlice = 10;
        plan.weightSlice = 5;
        QCOMPARE(refused(plan, { { 0, 0 } }, Refusal::Memory), 1); // 5 + 2 x 10 > 0
        plan.groups[0].room = 25;
        QCOMPARE(refused(plan, std::vector<SizedRequest>(5), Refusal::Full), 2); // three of 30 in 100
        plan.slo = 545;
        QCOMPARE(refused(plan, std::vector<SizedRequest>(5), Refusal::Full), 4); // the second would end at 560
        QCOMPARE(refused(plan, { { 0, 0 }, { 600, 0 } }, Refusal::Late), 1); // at 1530, however empty
        plan.slo = 2000;
        plan.decode = DecodeCapacity { .requests = 1, .gpusOfReplica = 1, .step = 10, .stay = 900 };
        QCOMPARE(refused(plan, std::vector<SizedRequest>(2), Refusal::Decode), 1);
        plan.decode.reset();
        plan.slo = 545;
        plan.sizes[0].onKind[0].compute = 101;
        QCOMPARE(refused(plan, { { 0, 0 } }, Refusal::Window), 1);
        plan.groups.clear(); // nobody to ask, whatever their memory
        QCOMPARE(refused(plan, { { 0, 0 } }, Refusal::Window), 1);
        QCOMPARE(refused(plan, { { 0, 0 } }, Refusal::Memory), 0);
    }

    void oneGpuAcceptsNoFewerWhenMoreTimeIsPromised()
    {
        // Equal slices on one GPU in order of arrival: a longer promise never costs a request. (With several lengths or
        // groups that is not so: a slot given to one can spoil two.)
        std::mt19937 random(3);
        for (int trial = 0; trial < 100; ++trial) {
            std::vector<SizedRequest> requests;
            for (Nanoseconds t = 0; t < 600; t += 1 + Nanoseconds(random() % 30))
                requests.push_back({ t, 0 });
            std::size_t before = 0;
            for (Nanoseconds slo = 10; slo < 400; slo += 7) {
                const AdmittedRequests admission =
                    admitRequests(aligned(2000, { { 100, 300 }, { 350, 600 } }, 1, 1, { 17, 0, 0 }, slo), requests);
                QVERIFY(admission.accepted.size() >= before);
                before = admission.accepted.size();
            }
        }
    }

    void unalignedBubblesAreFilledLessAndLater()
    {
        // The second GPU is free while the first is not: every request waits for the other's window.
        ServingPlan chained = aligned(1000 * kMs, { { 0, 400 * kMs } }, 1, 2, { 10 * kMs, 0, 0 }, 900 * kMs);
        chained.windows.push_back({ { 300 * kMs, 700 * kMs } });
        chained.groups[0].members[1].windows = 1;
        const ServingPlan straight = aligned(1000 * kMs, { { 0, 400 * kMs } }, 1, 2, { 10 * kMs, 0, 0 }, 900 * kMs);
        const auto requests = everyTick(0, 400 * kMs, 20 * kMs);
        const AdmittedRequests slow = admitRequests(chained, requests), fast = admitRequests(straight, requests);
        QVERIFY(slow.accepted.size() <= fast.accepted.size());
        const auto median = [](const AdmittedRequests &s) { return s.accepted[s.accepted.size() / 2].ttft; };
        QVERIFY(median(slow) > 2 * median(fast));
    }
};

TRAINYARD_APPLESS_TEST(TestController)
#include "tst_controller.moc"
