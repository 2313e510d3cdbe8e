// SPDX-License-Identifier: GPL-3.0-or-later
// Over hundreds of noisy recordings: how far calibration lies from what was put in, and how often its standard errors
// cover that.
#include "tests/core/calibrate/small_truth.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <map>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// What came of one truth: how far it is off and its standard error, over the truth.
struct Answer {
    std::string id;
    double off = 0, error = 0;
    bool isAccepted = false;
};

std::vector<Answer> answersOf(const CalibrationProposal &proposal)
{
    std::vector<Answer> answers;
    for (const Truth &of : truths()) {
        const FittedFactor *fitted = factorOf(proposal, of.id);
        if (!fitted)
            continue;
        const CalibrationFactor &factor = fitted->factor;
        const bool isAccepted = fitted->refused.empty();
        answers.push_back(
            { of.id, valueOf(factor) / of.value - 1, factor.standardError.value_or(0) / of.value, isAccepted });
        if (of.latencyUs > 0)
            answers.push_back({ of.id + " latency", factor.latencyUs.value_or(0) / of.latencyUs - 1,
                factor.latencyError.value_or(0) / of.latencyUs, isAccepted });
    }
    return answers;
}

/// How far moments of ranks lie from the clock of the first one, which all are brought to: ns, at most.
double clockError(const Run &run, const KernelRun &made)
{
    double most = 0;
    for (std::size_t r = 0; r < made.ranks.size(); ++r) {
        const auto &aligned = run.recording->ranks[r].streams.front().spans.start;
        const auto &real = made.onTrueClock.ranks[r].streams.front().spans.start;
        for (const std::size_t i : { std::size_t(0), real.size() - 1 })
            most =
                std::max(most, std::abs(double(aligned[i]) - made.ranks.front().shown(double(real[i]), made.middle)));
    }
    return most;
}

} // namespace

class CoverTest : public QObject {
    Q_OBJECT
private slots:
    /// 5 % log-normal noise, one duration in a hundred five times as long, clocks that are off: every factor and
    /// latency within 2 %, and clocks made one.
    void aHundredNoisyRecordingsGiveItBack()
    {
        std::map<std::string, double> worst;
        const EvaluationPtr truth = evaluated(withTruth(smallPlan())), plan = evaluated(smallPlan());
        for (int seed = 1; seed <= 100; ++seed) {
            const KernelRun made = recordKernels(*truth, { .seed = unsigned(seed) });
            const RunPtr run = makeRun(made.recording);
            QVERIFY(run->alignment.isWhole());
            worst["clocks, ns"] = std::max(worst["clocks, ns"], clockError(*run, made));
            const auto proposal = calibrate(*plan, *run, builtinCatalogue());
            QVERIFY(proposal);
            for (const Answer &answer : answersOf(*proposal)) {
                QVERIFY2(answer.isAccepted, qPrintable(told(*proposal)));
                worst[answer.id] = std::max(worst[answer.id], std::abs(answer.off));
            }
        }
        for (const auto &[id, off] : worst)
            qInfo("%s: at most %.3g off", id.c_str(), off);
        // Ends of a collective lie 20 ns apart (standard deviation): a median of hundreds of them is surer than one.
        QVERIFY(worst["clocks, ns"] < 20);
        worst.erase("clocks, ns");
        QCOMPARE(worst.size(), truths().size() + 2);
        for (const auto &[id, off] : worst)
            QVERIFY2(off < 0.02, id.c_str());
    }

    /// |fitted - true| < 1.96 standard errors in 95 ± 3 % of recordings, of every factor and latency. Of N answers of
    /// which 95 % are covered the share scatters by √(0.95 · 0.05 / N): of 400 by 1.1 %, so that 3 % are told from
    /// chance.
    void standardErrorsOfEveryPartCoverTheTruth()
    {
        constexpr int kRecordings = 400;
        std::map<std::string, int> covered;
        const EvaluationPtr truth = evaluated(withTruth(smallPlan())), plan = evaluated(smallPlan());
        for (int seed = 1; seed <= kRecordings; ++seed) {
            const RunPtr run = makeRun(recordKernels(*truth, { .seed = unsigned(seed) }).recording);
            const auto proposal = calibrate(*plan, *run, builtinCatalogue());
            QVERIFY(proposal);
            for (const Answer &answer : answersOf(*proposal)) {
                QVERIFY2(answer.error > 0, answer.id.c_str());
                covered[answer.id] += std::abs(answer.off) < 1.96 * answer.error;
            }
        }
        for (const auto &[id, count] : covered)
            qInfo("%s: covered in %.1f %%", id.c_str(), 100.0 * count / kRecordings);
        QCOMPARE(covered.size(), truths().size() + 2);
        for (const auto &[id, count] : covered)
            QVERIFY2(std::abs(double(count) / kRecordings - 0.95) <= 0.03, id.c_str());
    }
};

TRAINYARD_APPLESS_TEST(CoverTest)
#include "tst_cover.moc"
