// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/fair_share.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace trainyard;

namespace {

struct Case {
    std::vector<double> capacity, cap, weight;
    std::vector<std::uint32_t> begin, index;
    std::vector<double> takes {}; // of each entry of `index`; empty: 1

    [[nodiscard]] std::vector<double> rates() const
    {
        std::vector<double> rate;
        FairShareWorkspace workspace;
        if (takes.empty())
            maxMinFairRates(capacity, cap, weight, begin, index, rate);
        else
            maxMinFairRates(capacity, cap, weight, begin, index, takes, rate, workspace);
        return rate;
    }
};

Case randomCase(std::mt19937 &random, bool weighted, bool hasTakes = false)
{
    const auto uniform = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    Case made;
    const int links = 1 + static_cast<int>(random() % 12), flows = 1 + static_cast<int>(random() % 40);
    for (int l = 0; l < links; ++l)
        made.capacity.push_back(uniform(1, 20));
    for (int f = 0; f < flows; ++f) {
        made.cap.push_back(uniform(0.1, 8));
        made.weight.push_back(weighted ? static_cast<double>(1 + random() % 5) : 1);
        made.begin.push_back(static_cast<std::uint32_t>(made.index.size()));
        for (int l = 0; l < links; ++l)
            if (random() % 4 == 0) {
                made.index.push_back(static_cast<std::uint32_t>(l));
                if (hasTakes)
                    made.takes.push_back(uniform(0.05, 5));
            }
    }
    made.begin.push_back(static_cast<std::uint32_t>(made.index.size()));
    return made;
}

std::vector<double> load(const Case &flows, const std::vector<double> &rate)
{
    std::vector<double> sum(flows.capacity.size(), 0);
    for (std::size_t f = 0; f < rate.size(); ++f)
        for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1]; ++i)
            sum[flows.index[i]] += rate[f] * flows.weight[f] * (flows.takes.empty() ? 1 : flows.takes[i]);
    return sum;
}

/// Water-filling by small steps: every rate rises until its cap or a full link stops it.
std::vector<double> pour(const Case &flows, double step)
{
    std::vector<double> rate(flows.cap.size(), 0);
    std::vector<bool> stopped(rate.size(), false);
    while (!std::ranges::all_of(stopped, [](bool s) { return s; })) {
        for (std::size_t f = 0; f < rate.size(); ++f)
            if (!stopped[f])
                rate[f] += step;
        const std::vector<double> sum = load(flows, rate);
        for (std::size_t f = 0; f < rate.size(); ++f) {
            stopped[f] = stopped[f] || rate[f] >= flows.cap[f];
            for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1]; ++i)
                stopped[f] = stopped[f] || sum[flows.index[i]] >= flows.capacity[flows.index[i]];
        }
    }
    return rate;
}

} // namespace

class FairShare : public QObject {
    Q_OBJECT
private slots:
    /// Links that carry nothing change nothing, however many there are.
    void linksWithoutFlowsChangeNoRate()
    {
        std::mt19937 random(23);
        FairShareWorkspace workspace;
        for (int trial = 0; trial < 200; ++trial) {
            const Case few = randomCase(random, trial % 2 == 0);
            Case many = few;
            many.capacity.assign(few.capacity.size() * 40, 1e-3);
            for (std::size_t link = 0; link < few.capacity.size(); ++link)
                many.capacity[link * 40 + 7] = few.capacity[link];
            for (std::uint32_t &link : many.index)
                link = link * 40 + 7;
            std::vector<double> rate;
            maxMinFairRates(many.capacity, many.cap, many.weight, many.begin, many.index, {}, rate, workspace);
            QCOMPARE(rate, few.rates());
        }
    }

    void oneLinkIsSharedEvenly();
    void aCappedFlowLeavesItsRestToTheOthers();
    void theClassicLineOfThreeLinks();
    void equalFlowsMayStandForOneAnother();
    void everyFlowIsStoppedByItsCapOrAFullLink();
    void ratesAreThoseOfWaterFilling();
    void aFlowMayTakeMoreOfALinkThanItsRate();
    void takesOfOneAreNone();
    void aLinkInAnotherUnitIsTheSameLink();
    void takesOfUnlikeSizeLoseNothing();
};

void FairShare::oneLinkIsSharedEvenly()
{
    QCOMPARE((Case { { 12 }, { 100, 100, 100 }, { 1, 1, 1 }, { 0, 1, 2, 3 }, { 0, 0, 0 } }.rates()),
        (std::vector<double> { 4, 4, 4 }));
}

void FairShare::aCappedFlowLeavesItsRestToTheOthers()
{
    QCOMPARE((Case { { 12 }, { 2, 100, 100 }, { 1, 1, 1 }, { 0, 1, 2, 3 }, { 0, 0, 0 } }.rates()),
        (std::vector<double> { 2, 5, 5 }));
    QCOMPARE((Case { { 12 }, { 7 }, { 1 }, { 0, 0 }, {} }.rates()), std::vector<double> { 7 }); // no link: its cap
}

void FairShare::theClassicLineOfThreeLinks()
{
    // One flow over both links (10 and 4), one over each: the second link gives 2 and 2, the first the other 8.
    QCOMPARE((Case { { 10, 4 }, { 99, 99, 99 }, { 1, 1, 1 }, { 0, 2, 3, 4 }, { 0, 1, 0, 1 } }.rates()),
        (std::vector<double> { 2, 8, 2 }));
}

void FairShare::equalFlowsMayStandForOneAnother()
{
    QCOMPARE((Case { { 12 }, { 100, 100 }, { 1, 5 }, { 0, 1, 2 }, { 0, 0 } }.rates()), (std::vector<double> { 2, 2 }));
}

void FairShare::everyFlowIsStoppedByItsCapOrAFullLink()
{
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        const Case flows = randomCase(random, round % 2 == 1, round % 4 > 1);
        const std::vector<double> rate = flows.rates(), sum = load(flows, rate);
        for (std::size_t l = 0; l < sum.size(); ++l)
            QVERIFY(sum[l] <= flows.capacity[l] * (1 + 1e-9));
        for (std::size_t f = 0; f < rate.size(); ++f) {
            QVERIFY(rate[f] <= flows.cap[f] * (1 + 1e-9));
            bool isStopped = rate[f] >= flows.cap[f] * (1 - 1e-9);
            for (std::uint32_t i = flows.begin[f]; i < flows.begin[f + 1] && !isStopped; ++i) {
                const std::uint32_t link = flows.index[i];
                bool isLargest = true;
                for (std::size_t g = 0; g < rate.size(); ++g)
                    for (std::uint32_t j = flows.begin[g]; j < flows.begin[g + 1]; ++j)
                        isLargest = isLargest && (flows.index[j] != link || rate[g] <= rate[f] * (1 + 1e-9));
                isStopped = isLargest && sum[link] >= flows.capacity[link] * (1 - 1e-9);
            }
            QVERIFY(isStopped);
        }
    }
}

void FairShare::ratesAreThoseOfWaterFilling()
{
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
        const Case flows = randomCase(random, false, round % 2 == 1);
        const std::vector<double> rate = flows.rates(), poured = pour(flows, 1e-4);
        for (std::size_t f = 0; f < rate.size(); ++f)
            QVERIFY(std::abs(rate[f] - poured[f]) < 0.05);
    }
}

void FairShare::aFlowMayTakeMoreOfALinkThanItsRate()
{
    // 2 r + r = 12: both 4. Where the first stops at 1 the other has 12 - 2.
    QCOMPARE((Case { { 12 }, { 99, 99 }, { 1, 1 }, { 0, 1, 2 }, { 0, 0 }, { 2, 1 } }.rates()),
        (std::vector<double> { 4, 4 }));
    QCOMPARE((Case { { 12 }, { 1, 99 }, { 1, 1 }, { 0, 1, 2 }, { 0, 0 }, { 2, 1 } }.rates()),
        (std::vector<double> { 1, 10 }));
    // Three equal flows that take 2 each and one that takes 1: 3 x 2 r + r = 14.
    QCOMPARE((Case { { 14 }, { 99, 99 }, { 3, 1 }, { 0, 1, 2 }, { 0, 0 }, { 2, 1 } }.rates()),
        (std::vector<double> { 2, 2 }));
    // 1 of the first link and 3 of the second: the second gives 3 r + s = 8, r = s = 2; the first's other flow 10 - 2.
    QCOMPARE((Case { { 10, 8 }, { 99, 99, 99 }, { 1, 1, 1 }, { 0, 2, 3, 4 }, { 0, 1, 0, 1 }, { 1, 3, 1, 1 } }.rates()),
        (std::vector<double> { 2, 8, 2 }));
}

void FairShare::takesOfOneAreNone()
{
    std::mt19937 random(13);
    for (int round = 0; round < 100; ++round) {
        Case flows = randomCase(random, round % 2 == 0);
        const std::vector<double> rate = flows.rates();
        flows.takes.assign(flows.index.size(), 1);
        const std::vector<double> same = flows.rates();
        for (std::size_t f = 0; f < rate.size(); ++f)
            QVERIFY(std::abs(same[f] - rate[f]) <= 1e-12 * rate[f]);
    }
}

void FairShare::aLinkInAnotherUnitIsTheSameLink()
{
    // Capacity and takes of a link in bits instead of bytes: no rate changes.
    std::mt19937 random(17);
    for (int round = 0; round < 100; ++round) {
        Case flows = randomCase(random, round % 2 == 0, true);
        const std::vector<double> rate = flows.rates();
        flows.capacity[0] *= 8;
        for (std::size_t i = 0; i < flows.index.size(); ++i)
            flows.takes[i] *= flows.index[i] == 0 ? 8 : 1;
        const std::vector<double> same = flows.rates();
        for (std::size_t f = 0; f < rate.size(); ++f)
            QVERIFY(std::abs(same[f] - rate[f]) <= 1e-9 * rate[f]);
    }
}

void FairShare::takesOfUnlikeSizeLoseNothing()
{
    // 1e17 + 1 - 1e17 is 0 in doubles. The first flow stops at its cap of 1; the second takes 1 of the 80 that are
    // left.
    const std::vector<double> rate =
        Case { { 1e17 + 80 }, { 1, 99 }, { 1, 1 }, { 0, 1, 2 }, { 0, 0 }, { 1e17, 1 } }.rates();
    QCOMPARE(rate, (std::vector<double> { 1, 80 }));
}

TRAINYARD_APPLESS_TEST(FairShare)
#include "tst_fair_share.moc"
