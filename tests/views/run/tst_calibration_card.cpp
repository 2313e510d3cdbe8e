// SPDX-License-Identifier: GPL-3.0-or-later
// What a run teaches, with real widgets and events: fits are set, so that each row can be told beforehand.
#include "small_run.h"
#include "tests/support/test_program.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "models/text/calibration_text.h"
#include "views/run/calibration_card.h"
#include "views/run/factor_row.h"
#include "views/run/sentence_list.h"
#include "views/run/verdict_section.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <semaphore>

using namespace trainyard;
using trainyard::testing::SmallRun;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

FittedFactor factor(const std::string &id, CalibratedPart what, double value, const std::string &refused = {})
{
    FittedFactor fitted { .id = id };
    fitted.factor.what = what;
    fitted.factor.factor = value;
    fitted.factor.standardError = 0.02;
    fitted.factor.samples = 4032;
    fitted.factor.r2 = 0.998;
    fitted.factor.errorBefore = 0.14;
    fitted.factor.errorAfter = 0.031;
    fitted.factor.recording = "march run";
    fitted.sentence = "They take " + std::to_string(value) + " × as long as modelled";
    fitted.refused = refused;
    return fitted;
}

CalibrationProposal proposal()
{
    CalibrationProposal told;
    told.factors = { factor("products", CalibratedPart::Products, 1.17), factor("host", CalibratedPart::Host, 1.4),
        factor("overlap", CalibratedPart::Overlap, 0.6, "It stands on 3 samples; at least 5 are needed") };
    told.errorBefore = 0.14;
    told.errorAfter = 0.02;
    told.stepsFitted = told.stepsHeldOut = 6;
    told.notes = { "NVLink and fabric could not be told apart" };
    return told;
}

struct Fixture {
    QTemporaryDir folder;
    RunDocument runs;
    Expected<CalibrationProposal> answer = proposal();
    std::counting_semaphore<8> mayAnswer { 0 };
    bool waits = false;
    RunCalibration calibration { runs, builtinCatalogue(),
        [this](const EvaluationPtr &, const RunPtr &, const std::stop_token &stop) -> Expected<CalibrationProposal> {
            if (waits)
                mayAnswer.acquire();
            if (stop.stop_requested())
                return std::unexpected(Error { ErrorCode::Cancelled, {}, {}, {} });
            return answer;
        } };
    CalibrationCard card { calibration, CalibrationCard::Shows::Everything };
    PlanPtr plan;
    QStringList edits; // as the undo list says them

    explicit Fixture(bool opens = true)
    {
        plan =
            std::make_shared<const Plan>(*readPlan(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800.trainyard.json"));
        card.resize(790, 420);
        card.show();
        card.setPlan(plan);
        QObject::connect(
            &card, &CalibrationCard::editCommitted, &card, [this](const PlanPtr &next, const QString &text) {
                edits << text;
                plan = next;
                card.setPlan(next);
            });
        if (!opens)
            return;
        auto evaluation = std::make_shared<Evaluation>();
        evaluation->plan = plan;
        runs.setEvaluation(evaluation);
        QSignalSpy overlays(&runs, &RunDocument::overlayChanged);
        runs.open({ SmallRun().write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(overlays.count() > 0, kLong);
    }
    void learn()
    {
        QSignalSpy found(&calibration, &RunCalibration::proposalChanged);
        QTest::mouseClick(card.learn, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(found.count() > 0, kLong);
        QApplication::processEvents();
    }
    void press(const std::string &id)
    {
        FactorRow *row = card.row(id);
        QVERIFY(row && row->button()->isVisible());
        QTest::mouseClick(row->button(), Qt::LeftButton);
    }
    [[nodiscard]] FactorState stateOf(const std::string &id) const { return card.row(id)->row().state; }
};

} // namespace

class CalibrationCardTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void nothingIsLearnedBeforeItIsAskedFor()
    {
        Fixture f(false);
        QVERIFY(f.card.rows().empty());
        QVERIFY(!f.card.learn->isEnabled() && !f.card.acceptAll->isVisible());
        QVERIFY2(f.card.summary().contains("Nothing changes until you accept it"), qPrintable(f.card.summary()));
    }
    void eachFactorIsARowWithWhatItRestsOn()
    {
        Fixture f;
        QVERIFY(f.card.learn->isEnabled());
        f.learn();
        QCOMPARE(f.card.rows().size(), std::size_t(3));
        const CalibrationRow &row = f.card.row("products")->row();
        QCOMPARE(row.subject, QStringLiteral("Products"));
        QCOMPARE(row.value, QStringLiteral("× 1.17 ± 0.02"));
        QCOMPARE(row.basis, QStringLiteral("4,032 samples, R² 0.998"));
        QCOMPARE(row.errors, QStringLiteral("14.0 % → 3.10 %"));
        QVERIFY2(f.card.summary().contains("14.0 %") && f.card.summary().contains("2.00 %")
                && f.card.summary().contains("6 steps"),
            qPrintable(f.card.summary()));
        QCOMPARE(f.card.notes->sentences().size(), 1);
        QVERIFY(f.plan->calibration.empty()); // learning changes nothing
    }
    void aRefusedFactorSaysWhyAndCannotBeAccepted()
    {
        Fixture f;
        f.learn();
        FactorRow *row = f.card.row("overlap");
        QVERIFY(row && !row->button()->isVisible());
        QVERIFY(row->row().told.contains("at least 5 are needed"));
    }
    void factorsThatLieFartherOffAreSaidFirst()
    {
        Fixture f;
        f.answer->errorAfter = 0.4;
        f.learn();
        QVERIFY2(f.card.summary().startsWith("Farther from the run than without them"), qPrintable(f.card.summary()));
        QVERIFY(f.card.summary().contains("40.0 %") && f.card.summary().contains("14.0 %"));
        f.answer->errorAfter = 0.02;
        f.learn();
        QVERIFY(f.card.summary().startsWith("Predicted steps lie"));
    }
    void oneIsAcceptedAndRemovedAgain()
    {
        Fixture f;
        f.learn();
        const PlanPtr before = f.plan;
        f.press("products");
        QCOMPARE(f.edits, QStringList { QStringLiteral("Take products × 1.17 from march run") });
        QCOMPARE(f.plan->calibration.size(), std::size_t(1));
        const auto has = calibrationOf(*f.plan);
        QVERIFY(has && has->at("products") == f.answer->factors[0].factor);
        QCOMPARE(f.stateOf("products"), FactorState::Taken);
        QCOMPARE(f.card.row("products")->button()->text(), QStringLiteral("Remove"));
        QCOMPARE(f.stateOf("host"), FactorState::Offered);
        f.press("products");
        QCOMPARE(f.edits.back(), QStringLiteral("Remove products × 1.17"));
        QVERIFY(*f.plan == *before);
    }
    void allAreAcceptedAtOnceButThoseRefused()
    {
        Fixture f;
        f.learn();
        QTest::mouseClick(f.card.acceptAll, Qt::LeftButton);
        QCOMPARE(f.edits, QStringList { QStringLiteral("Take 2 factors from march run") });
        QCOMPARE(f.plan->calibration.size(), std::size_t(2));
        QVERIFY(!f.plan->calibration.contains("overlap"));
        QVERIFY(!f.card.acceptAll->isVisible()); // there is nothing left
    }
    void theKeyboardAcceptsAndStaysOnTheRow()
    {
        Fixture f;
        f.learn();
        QPushButton *button = f.card.row("host")->button();
        button->setFocus();
        QTest::keyClick(button, Qt::Key_Space);
        QCOMPARE(f.plan->calibration.size(), std::size_t(1));
        QVERIFY(button == f.card.row("host")->button() && f.stateOf("host") == FactorState::Taken);
    }
    void whatThePlanHasFromElsewhereIsListedAndReplaced()
    {
        Fixture f;
        Plan other = *f.plan;
        FittedFactor old = factor("products", CalibratedPart::Products, 1.3);
        old.factor.recording = "january run";
        other.calibration["products"] = formatCalibrationFactor(old.factor);
        other.calibration["fabric-lab"] = formatCalibrationFactor({ .what = CalibratedPart::Fabric,
            .latencyUs = 12,
            .gbytesPerS = 42.1,
            .recording = "january run",
            .standardError = 0.8,
            .latencyError = 0.3 });
        f.plan = std::make_shared<const Plan>(other);
        f.card.setPlan(f.plan);
        QCOMPARE(f.stateOf("products"), FactorState::Kept); // before any run teaches something
        f.learn();
        QCOMPARE(f.stateOf("products"), FactorState::Replaces);
        QVERIFY(f.card.row("products")->row().told.contains("× 1.30 from january run"));
        QCOMPARE(f.stateOf("fabric-lab"), FactorState::Kept);
        QCOMPARE(f.card.row("fabric-lab")->row().value, QStringLiteral("42.1 GB/s ± 0.8, 12.0 µs ± 300 ns"));
        f.press("products");
        QCOMPARE(calibrationOf(*f.plan)->at("products").factor, std::optional<double>(1.17));
        f.press("fabric-lab");
        QVERIFY(!f.plan->calibration.contains("fabric-lab"));
    }
    void entriesOfAnotherVersionAreKeptAndSaid()
    {
        Fixture f(false);
        Plan other = *f.plan;
        other.calibration["from-tomorrow"] = "{\"kind\":\"quantum\"}";
        f.card.setPlan(std::make_shared<const Plan>(other));
        QCOMPARE(f.stateOf("from-tomorrow"), FactorState::Kept);
        QVERIFY(f.card.row("from-tomorrow")->row().told.contains("without effect"));
    }
    void learningIsCancelledAndTheNewestWins()
    {
        Fixture f;
        f.waits = true;
        QSignalSpy found(&f.calibration, &RunCalibration::proposalChanged);
        QTest::mouseClick(f.card.learn, Qt::LeftButton);
        QVERIFY(f.calibration.isFitting());
        QCOMPARE(f.card.learn->text(), QStringLiteral("Cancel"));
        QTest::mouseClick(f.card.learn, Qt::LeftButton);
        QVERIFY(!f.calibration.isFitting());
        QTest::mouseClick(f.card.learn, Qt::LeftButton);
        f.mayAnswer.release(2);
        QTRY_COMPARE_WITH_TIMEOUT(found.count(), 1, kLong);
        QCOMPARE(f.card.rows().size(), std::size_t(3));
    }
    void whatTeachesNothingSaysSo()
    {
        Fixture f;
        f.answer = std::unexpected(Error { ErrorCode::BadValue, "job", "nothing of it says how fast anything is", {} });
        f.learn();
        QVERIFY2(f.card.summary().contains("nothing of it says"), qPrintable(f.card.summary()));
        QVERIFY(f.card.rows().empty());
    }
    void anotherRunForgetsWhatTheLastTaught()
    {
        Fixture f;
        f.learn();
        f.runs.close();
        QVERIFY(!f.calibration.proposal() && f.card.rows().empty() && !f.card.learn->isEnabled());
    }
    void aRunWithoutSteppedTimeIsJudgedByItsMemory()
    {
        RunVerdict told;
        told.isTimed = false;
        told.headline = "10 % less memory than predicted; no step is timed";
        MemoryVerdict memory;
        memory.of = "rank 2, stage 1 of 8";
        memory.headline = "10 % less memory than predicted";
        memory.parts = { { "optimizer", 30e9, 25e9, "allocated after step 1" }, { "weights", 20e9, 20e9, "too" } };
        memory.predictedBytes = 50e9;
        memory.measuredBytes = 45e9;
        memory.causes = { "states are divided" };
        memory.doubts = { "told after the first iteration" };
        told.memory = memory;
        VerdictSection section;
        section.setVerdict(std::make_shared<const Expected<RunVerdict>>(told));
        QCOMPARE(section.headline(), QStringLiteral("10 % less memory than predicted; no step is timed."));
        // Parts that are as predicted are left out, and the headline is not said twice
        QCOMPARE(section.memory->sentences(),
            QStringList {
                QStringLiteral("Optimizer: −5.00 GB (30.0 GB predicted, 25.0 GB measured; allocated after step 1)") });
        QVERIFY(section.parts->sentences().isEmpty());
        QCOMPARE(section.causes->sentences(), QStringList { QStringLiteral("Memory: States are divided.") });
        told.isTimed = true;
        section.setVerdict(std::make_shared<const Expected<RunVerdict>>(told));
        QCOMPARE(section.memory->sentences().front(), QStringLiteral("10 % less memory than predicted."));
        told.memory.reset();
        section.setVerdict(std::make_shared<const Expected<RunVerdict>>(told));
        QVERIFY(section.memory->sentences().isEmpty());
    }

    void aVerdictIsASentenceWithPartsCausesAndDoubts()
    {
        RunVerdict told;
        told.headline = "11 % slower than predicted, all of it in exposed all-reduce";
        told.predictedSeconds = 1;
        told.measuredSeconds = 1.11;
        told.parts = { { "exposed all-reduce", 0.2, 0.31, "timer grads-all-reduce" }, { "host", 0.05, 0.05, {} } };
        told.causes = { "a link runs below its rate" };
        told.doubts = { "no source tells the GPU" };
        VerdictSection section;
        QVERIFY(section.isHidden());
        section.setVerdict(std::make_shared<const Expected<RunVerdict>>(told));
        QCOMPARE(section.headline(), QStringLiteral("11 % slower than predicted, all of it in exposed all-reduce."));
        QCOMPARE(section.parts->sentences().size(), 1); // what is as predicted is in the table
        QVERIFY(section.parts->sentences()[0].startsWith("Exposed all-reduce: +110 ms"));
        QCOMPARE(section.causes->sentences(), QStringList { "A link runs below its rate." });
        QCOMPARE(section.doubts->sentences(), QStringList { "No source tells the GPU." });
        section.setVerdict(std::make_shared<const Expected<RunVerdict>>(
            std::unexpected(Error { ErrorCode::BadValue, {}, "the run has no steps", {} })));
        QCOMPARE(section.headline(), QStringLiteral("No verdict: the run has no steps."));
        QVERIFY(section.parts->sentences().isEmpty());
    }
};

TRAINYARD_TEST(CalibrationCardTest)
#include "tst_calibration_card.moc"
