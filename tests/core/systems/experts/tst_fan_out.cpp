// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/fan_out.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

using namespace trainyard;

namespace {

ExpertTokens routing(int experts, int choices, int groups = 0, int topGroups = 0)
{
    ExpertTokens tokens;
    tokens.experts = experts;
    tokens.choices = choices;
    tokens.groups = groups;
    tokens.topGroups = topGroups;
    return tokens;
}

/// Experts chosen where `byScore` lists all by falling score: the groups whose best expert scores most, then the best
/// of these groups, as DeepEP's tests route.
std::vector<int> chosen(const std::vector<int> &byScore, const ExpertTokens &tokens)
{
    const int ofGroup = tokens.groups > 0 ? tokens.experts / tokens.groups : tokens.experts;
    std::set<int> groups;
    for (const int expert : byScore) {
        if (tokens.topGroups == 0 || int(groups.size()) < tokens.topGroups)
            groups.insert(expert / ofGroup);
    }
    std::vector<int> result;
    for (const int expert : byScore) {
        if (groups.contains(expert / ofGroup) && int(result.size()) < tokens.choices)
            result.push_back(expert);
    }
    return result;
}

int placesOf(const std::vector<int> &experts, int places, int all)
{
    std::set<int> visited;
    for (const int expert : experts)
        visited.insert(expert * places / all);
    return int(visited.size());
}

/// Over every order of scores.
double enumerated(const ExpertTokens &tokens, int places)
{
    std::vector<int> order(std::size_t(tokens.experts));
    std::iota(order.begin(), order.end(), 0);
    double sum = 0, count = 0;
    do {
        sum += placesOf(chosen(order, tokens), places, tokens.experts);
        ++count;
    } while (std::ranges::next_permutation(order).found);
    return sum / count;
}

double simulated(const ExpertTokens &tokens, int places, int samples)
{
    std::mt19937 random(7);
    std::vector<int> order(std::size_t(tokens.experts));
    std::iota(order.begin(), order.end(), 0);
    double sum = 0;
    for (int i = 0; i < samples; ++i) {
        std::ranges::shuffle(order, random);
        sum += placesOf(chosen(order, tokens), places, tokens.experts);
    }
    return sum / samples;
}

} // namespace

class TestFanOut : public QObject {
    Q_OBJECT

private slots:
    void placesAreThoseOfDrawsWithoutReturn();
    void everyOrderOfScoresGivesTheSameMean_data();
    void everyOrderOfScoresGivesTheSameMean();
    void deepSeekVisitsAlmostFourNodes();
    void manyPlacesOfOneExpertAreVisitedOnceAChoice();
    void moreChoicesVisitNoFewerPlaces();
    void droppedVisitsAreBinomial();
};

/// n (1 - C(E - E/n, k) / C(E, k)), with binomials by log-gamma
void TestFanOut::placesAreThoseOfDrawsWithoutReturn()
{
    const auto logChoose = [](double n, double k) {
        return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    };
    for (const int experts : { 8, 64, 160, 256 }) {
        for (const int places : { 1, 2, 4, 8 }) {
            for (const int choices : { 1, 2, 6, 8 }) {
                const double others = experts - double(experts) / places;
                const double missed =
                    choices > others ? 0 : std::exp(logChoose(others, choices) - logChoose(experts, choices));
                const double visited = placesVisited(places, routing(experts, choices));
                QVERIFY(std::abs(visited - places * (1 - missed)) < 1e-9);
                QVERIFY(
                    std::abs(otherPlacesVisited(places, routing(experts, choices)) - visited * (places - 1) / places)
                    < 1e-12);
            }
        }
    }
}

void TestFanOut::everyOrderOfScoresGivesTheSameMean_data()
{
    QTest::addColumn<int>("experts");
    QTest::addColumn<int>("choices");
    QTest::addColumn<int>("groups");
    QTest::addColumn<int>("topGroups");
    QTest::addColumn<int>("places");
    int row = 0;
    for (const auto &[experts, groups] : std::vector<std::pair<int, int>> { { 6, 0 }, { 6, 3 }, { 8, 4 }, { 8, 2 } }) {
        for (const int topGroups : { 1, 2, 3 }) {
            for (const int choices : { 1, 2, 3, 4 }) {
                for (const int places : { 2, 3, 4, 6, 8 }) {
                    const bool fits = experts % places == 0
                        && (groups == 0
                            || (topGroups <= groups && choices <= experts / groups * topGroups
                                && (places % groups == 0 || groups % places == 0)));
                    if (fits && (groups > 0 || topGroups == 1))
                        QTest::addRow("%d", row++)
                            << experts << choices << groups << (groups > 0 ? topGroups : 0) << places;
                }
            }
        }
    }
}

void TestFanOut::everyOrderOfScoresGivesTheSameMean()
{
    QFETCH(int, experts);
    QFETCH(int, choices);
    QFETCH(int, groups);
    QFETCH(int, topGroups);
    QFETCH(int, places);
    const ExpertTokens tokens = routing(experts, choices, groups, topGroups);
    const double expected = enumerated(tokens, places), found = placesVisited(places, tokens);
    QVERIFY2(std::abs(found - expected) < 1e-9, qPrintable(QStringLiteral("%1, not %2").arg(found).arg(expected)));
}

/// 256 experts in 8 groups, 8 chosen from 4 groups: 3.98 nodes, as simulated by whoever measured DeepEP.
void TestFanOut::deepSeekVisitsAlmostFourNodes()
{
    const ExpertTokens tokens = routing(256, 8, 8, 4);
    QVERIFY(std::abs(placesVisited(8, tokens) - 3.98) < 0.005);
    for (const int places : { 2, 4, 8, 16, 64 })
        QVERIFY(std::abs(placesVisited(places, tokens) / simulated(tokens, places, 20000) - 1) < 0.01);
    QVERIFY(placesVisited(8, routing(256, 8)) > 5.2); // without groups
}

void TestFanOut::manyPlacesOfOneExpertAreVisitedOnceAChoice()
{
    for (const int choices : { 1, 2, 8 })
        QVERIFY(std::abs(placesVisited(64, routing(64, choices)) - choices) < 1e-12);
    QCOMPARE(placesVisited(1, routing(64, 3)), 1.0);
    QCOMPARE(placesVisited(4, routing(8, 8)), 4.0);
}

void TestFanOut::moreChoicesVisitNoFewerPlaces()
{
    for (const int groups : { 0, 8 }) {
        double before = 0;
        for (int choices = 1; choices <= 32; ++choices) {
            const double visited = placesVisited(16, routing(256, choices, groups, groups / 2));
            QVERIFY(visited >= before - 1e-12 && visited <= std::min(16, choices) + 1e-12);
            before = visited;
        }
    }
}

/// Each visit kept with chance q: sum over j of C(k, j) q^j (1 - q)^(k - j) places(j).
void TestFanOut::droppedVisitsAreBinomial()
{
    ExpertTokens tokens = routing(16, 2);
    tokens.kept = 0.75;
    const double one = placesVisited(4, routing(16, 1)), two = placesVisited(4, routing(16, 2));
    QVERIFY(std::abs(placesVisited(4, tokens) - (2 * 0.75 * 0.25 * one + 0.75 * 0.75 * two)) < 1e-12);
    tokens.kept = 0;
    QCOMPARE(placesVisited(4, tokens), 0.0);
}

TRAINYARD_APPLESS_TEST(TestFanOut)
#include "tst_fan_out.moc"
