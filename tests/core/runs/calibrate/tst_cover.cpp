// SPDX-License-Identifier: GPL-3.0-or-later
// Over many noisy recordings: how far calibration lies from what was put in, and how often its standard errors cover
// that.
#include "tests/core/runs/calibrate/small_truth.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

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

/// What was made of a recording: 5 % log-normal noise, one duration in a hundred five times as long, clocks that are
/// off.
struct Learnt {
    bool isAligned = false;
    double clockError = 0;
    std::string told;
    std::vector<Answer> answers; // none: it could not be calibrated
};

} // namespace

class CoverTest : public QObject {
    Q_OBJECT
    std::vector<Learnt> m_learnt;

private slots:
    void initTestCase()
    {
        const EvaluationPtr truth = evaluated(withTruth(smallPlan())), plan = evaluated(smallPlan());
        for (int seed = 1; seed <= trials(100); ++seed) {
            const KernelRun made = recordKernels(*truth, { .seed = unsigned(seed) });
            const RunPtr run = makeRun(made.recording);
            Learnt &learnt = m_learnt.emplace_back(Learnt { run->alignment.isWhole(), clockError(*run, made), {}, {} });
            if (const auto proposal = calibrate(*plan, *run, builtinCatalogue())) {
                learnt.told = told(*proposal).toStdString();
                learnt.answers = answersOf(*proposal);
            }
        }
    }

    /// Every factor and latency within 2 %, and clocks made one.
    void noisyRecordingsGiveItBack()
    {
        std::map<std::string, double> worst;
        for (const Learnt &learnt : m_learnt) {
            QVERIFY(learnt.isAligned && !learnt.answers.empty());
            worst["clocks, ns"] = std::max(worst["clocks, ns"], learnt.clockError);
            for (const Answer &answer : learnt.answers) {
                QVERIFY2(answer.isAccepted, learnt.told.c_str());
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

    /// |fitted - true| < 1.96 standard errors in 95 % of recordings, of every factor and latency. Of N answers of which
    /// 95 % are covered the share scatters by √(0.95 · 0.05 / N), and may lie 2.75 of that off by chance: 3 % of 400,
    /// 6 % of 100.
    void standardErrorsOfEveryPartCoverTheTruth()
    {
        const double recordings = double(m_learnt.size());
        std::map<std::string, int> covered;
        for (const Learnt &learnt : m_learnt)
            for (const Answer &answer : learnt.answers) {
                QVERIFY2(answer.error > 0, answer.id.c_str());
                covered[answer.id] += std::abs(answer.off) < 1.96 * answer.error;
            }
        for (const auto &[id, count] : covered)
            qInfo("%s: covered in %.1f %%", id.c_str(), 100.0 * count / recordings);
        QCOMPARE(covered.size(), truths().size() + 2);
        for (const auto &[id, count] : covered)
            QVERIFY2(std::abs(count / recordings - 0.95) <= 2.75 * std::sqrt(0.95 * 0.05 / recordings), id.c_str());
    }
};

TRAINYARD_APPLESS_TEST(CoverTest)
#include "tst_cover.moc"
