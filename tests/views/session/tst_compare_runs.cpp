// SPDX-License-Identifier: GPL-3.0-or-later
// The page that compares, with recorded runs in its lists: plan and run, run and run, with real widgets and events. The
// runs are made by the generator that plays a plan's own task graph, so that what differs is known.
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/support/test_program.h"
#include "tests/support/until.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/runs/telemetry/sample_names.h"
#include "models/loaded_runs.h"
#include "models/session/session_document.h"
#include "views/panels/evidence_table.h"
#include "views/session/compare_page.h"
#include "views/session/compared_timeline.h"
#include "views/session/measured_chart.h"
#include "views/session/run_comparison_view.h"
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QTest>
#include <QWheelEvent>

#include <cmath>
#include <map>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const EvaluationPtr &thePlan()
{
    static const EvaluationPtr plan = evaluatedSample(smallSamples()[0]); // TP 2, PP 4, DP 2
    return plan;
}

RecordedRunOptions exactly()
{
    RecordedRunOptions options;
    options.steps = 3;
    options.noise = options.outlierShare = options.endJitter = 0;
    options.clockOffset = options.clockDrift = 0;
    return options;
}

Recording recorded(const RecordedRunOptions &options)
{
    Recording recording = recordRun(thePlan(), options).recording;
    recording.name.clear(); // it is called as its file is
    return recording;
}

/// Its step times alone, as many seconds each.
Recording logged(std::vector<double> seconds)
{
    Recording recording;
    SampleSeries &times = recording.series.emplace_back();
    times.name = SharedText(samples::kStepTime);
    times.isByStep = true;
    for (std::size_t i = 0; i < seconds.size(); ++i)
        times.at.push_back(std::int64_t(i) + 1);
    times.value = std::move(seconds);
    return recording;
}

struct Fixture {
    std::map<std::string, Recording> files; // by path; a path that is not there cannot be read
    RunDocument::Read read = [this](const std::vector<std::string> &paths, const SourceOptions &,
                                 const SourcesProgress &) -> Expected<Recording> {
        const auto at = files.find(paths.front());
        if (at == files.end())
            return std::unexpected(Error { ErrorCode::CannotRead, paths.front(), "there is no such file", "" });
        Recording recording = at->second;
        recording.sources.push_back({ .file = paths.front() });
        return recording;
    };
    PlanDocument document { thePlan()->plan, {} };
    SessionDocument session { document };
    RunDocument runs { read };
    LoadedRuns loaded { runs, read };
    ComparePage page { session, loaded, builtinCatalogue() };

    Fixture()
    {
        page.resize(1200, 800);
        page.setVisible(true);
    }
    bool open(const char *path, Recording recording)
    {
        files[path] = std::move(recording);
        const std::size_t before = loaded.all().size();
        runs.open({ QString::fromLatin1(path) });
        return until([&] { return loaded.all().size() > before && loaded.all().back().run(); });
    }
    /// Chooses the entry of a list as the keyboard does.
    void choose(QComboBox *box, int index)
    {
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        for (int i = 0; i < index; ++i)
            QTest::keyClick(box, Qt::Key_Down);
        QCOMPARE(box->currentIndex(), index);
    }
    [[nodiscard]] RunComparisonView &view() { return *page.runView(); }
    /// Until what is shown is of the sides that are chosen.
    bool settle()
    {
        return until([&] { return page.runView() && view().comparison().pair() && !view().comparison().isUnderWay(); });
    }
    [[nodiscard]] const ComparedRuns &pair() { return *view().comparison().pair(); }
    [[nodiscard]] static QString cell(const EvidenceTable *table, const QString &first, int column)
    {
        for (int row = 0; row < table->model()->rowCount(); ++row)
            if (table->model()->index(row, 0).data().toString() == first)
                return table->model()->index(row, column).data().toString();
        return QStringLiteral("no such row");
    }
};

QByteArray textOf(const PlaceDifference &row)
{
    return QByteArray::fromStdString(row.place) + ' ' + nameOf(row.kind) + ": " + QByteArray::number(row.reference)
        + " s, " + QByteArray::number(row.measured) + " s";
}

} // namespace

class CompareRunsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void theListsOfferVariantsAndRuns()
    {
        Fixture f;
        QVERIFY(f.open("/runs/monday", recorded(exactly())));
        f.loaded.restore(R"([{"paths": ["/runs/gone"]}])");
        QVERIFY(until([&] { return f.loaded.all().size() == 2 && !f.loaded.all()[1].errors.empty(); }));
        for (const QComboBox *box : { f.page.before, f.page.after }) {
            QCOMPARE(box->count(), 3);
            QCOMPARE(box->itemText(1), QStringLiteral("monday (run)"));
            QCOMPARE(box->itemText(2), QStringLiteral("gone (not read)"));
            const auto *items = qobject_cast<const QStandardItemModel *>(box->model());
            QVERIFY(items && items->item(1)->isEnabled() && !items->item(2)->isEnabled());
            QVERIFY(box->itemData(2, Qt::ToolTipRole).toString().contains(QStringLiteral("no such file")));
        }
        QVERIFY(!f.page.runView()); // nobody has asked for one
    }

    void aPlanDiffersNowhereFromTheRunThatItMakes()
    {
        Fixture f;
        QVERIFY(f.open("/runs/own", recorded(exactly())));
        f.choose(f.page.after, 1);
        QVERIFY(f.settle());
        const ComparedRuns &pair = f.pair();
        QVERIFY2(pair.whyNot.isEmpty(), qPrintable(pair.whyNot));
        const double step = *thePlan()->metrics.iterationTime;
        QVERIFY(!pair.kinds.empty() && pair.places.size() == 4U * 4);
        for (const std::vector<PlaceDifference> *rows : { &pair.kinds, &pair.places })
            for (const PlaceDifference &row : *rows)
                QVERIFY2(row.isTold() && std::abs(row.difference()) < 1e-3 * step, textOf(row));
        QVERIFY2(f.page.verdict().contains(QStringLiteral("a step (")), qPrintable(f.page.verdict()));

        // Plan above, measured lanes of the same step below, under one axis.
        QCOMPARE(f.view().upper->plan->evaluation(), pair.evaluation);
        QVERIFY(pair.evaluation->plan == thePlan()->plan && pair.lanes[1]);
        QCOMPARE(f.view().lower->run->lanes(), pair.lanes[1]);
        QVERIFY(f.view().lower->run->rowNames().join(u'\n').contains(QStringLiteral("stage 1 · rank ")));
        QCOMPARE(f.view().upper->visibleRange(), f.view().lower->visibleRange());
        MeasuredChart *chart = f.view().lower->run;
        const QPointF middle = chart->viewport()->rect().center();
        QWheelEvent wheel(middle, chart->viewport()->mapToGlobal(middle), {}, { 0, 240 }, Qt::NoButton, Qt::NoModifier,
            Qt::NoScrollPhase, false);
        QApplication::sendEvent(chart->viewport(), &wheel);
        QVERIFY(f.view().lower->visibleRange().length() < pair.evaluation->timeline.duration);
        QCOMPARE(f.view().upper->visibleRange(), f.view().lower->visibleRange());

        // The run tells no memory and no model: dashes, not the plan's figures.
        const EvidenceTable *numbers = f.view().numbers;
        QCOMPARE(f.cell(numbers, "MFU", 2), QStringLiteral("–"));
        QVERIFY(f.cell(numbers, "MFU", 1) != QStringLiteral("–"));
        QCOMPARE(f.cell(numbers, "MFU", 3), QStringLiteral("–"));
        QCOMPARE(f.cell(numbers, "Memory allocated, fullest GPU", 2), QStringLiteral("–"));
        QVERIFY(f.cell(numbers, "Step time", 3) != QStringLiteral("–"));
        QCOMPARE(f.cell(numbers, "GPUs", 2), QStringLiteral("16"));
        QVERIFY(pair.notes.join(u'\n').contains(QStringLiteral("GPU time by place and kind of work is compared")));

        // To plans and back: the sentence is always of what is shown.
        const QString told = f.page.verdict();
        f.choose(f.page.after, 0);
        QVERIFY(until([&] { return f.page.verdict().contains(QStringLiteral("an iteration")); }));
        f.choose(f.page.after, 1);
        QVERIFY(until([&] { return f.page.verdict() == told; }));
    }

    void whatTheRunHasLongerIsLongerByThatAndTheOtherWayRoundShorter()
    {
        RecordedRunOptions slower = exactly();
        slower.computeFactor = 1.2;
        Fixture f;
        QVERIFY(f.open("/runs/slow", recorded(slower)));
        f.choose(f.page.after, 1);
        QVERIFY(f.settle());
        std::map<std::string, double> longer;
        for (const PlaceDifference &row : f.pair().places) {
            if (row.kind != DifferenceKind::Compute)
                continue;
            QVERIFY2(std::abs(row.difference() - 0.2 * row.reference) < 1e-5 * row.reference, textOf(row));
            longer[row.place] = row.difference();
        }
        QCOMPARE(longer.size(), 4U);
        QTest::mouseClick(f.page.swap, Qt::LeftButton);
        QVERIFY(until([&] { return f.pair().before.run && !f.view().comparison().isUnderWay(); }));
        for (const PlaceDifference &row : f.pair().places)
            if (row.kind == DifferenceKind::Compute)
                QVERIFY(std::abs(row.difference() + longer[row.place]) < 1e-9);
        QCOMPARE(f.view().upper->run->lanes(), f.pair().lanes[0]);
        QCOMPARE(f.view().lower->plan->evaluation(), f.pair().evaluation);
    }

    void anotherJobIsComparedWithNothing()
    {
        Recording other = recorded(exactly());
        other.arguments["global_batch_size"] = "8"; // the plan has 16
        Fixture f;
        QVERIFY(f.open("/runs/other", std::move(other)));
        f.choose(f.page.after, 1);
        QVERIFY(f.settle());
        QVERIFY2(f.page.verdict().startsWith(QStringLiteral("Another job: sequences per step 8, plan 16")),
            qPrintable(f.page.verdict()));
        QVERIFY(f.pair().kinds.empty() && f.pair().places.empty());
        QVERIFY(f.pair().lanes[1]); // what was measured is shown
        const EvidenceTable *numbers = f.view().numbers;
        QCOMPARE(f.cell(numbers, "Step time", 1), QStringLiteral("–"));
        QVERIFY(f.cell(numbers, "Step time", 2) != QStringLiteral("–"));
        for (int row = 0; row < numbers->model()->rowCount(); ++row)
            QCOMPARE(numbers->model()->index(row, 3).data().toString(), QStringLiteral("–"));
    }

    void twoRunsDifferByTheRankThatIsSlow()
    {
        RecordedRunOptions slow = exactly();
        slow.straggler = 5;
        slow.stragglerFactor = 1.2;
        Fixture f;
        QVERIFY(f.open("/runs/good", recorded(exactly())));
        QVERIFY(f.open("/runs/slow", recorded(slow)));
        f.choose(f.page.before, 1);
        f.choose(f.page.after, 2);
        QVERIFY(f.settle());
        QVERIFY(until([&] { return f.pair().before.run && f.pair().after.run; }));
        QVERIFY2(f.pair().whyNot.isEmpty(), qPrintable(f.pair().whyNot));
        for (const PlaceDifference &row : f.pair().places)
            if (row.kind == DifferenceKind::Compute) {
                const double expected = row.place == "rank 5" ? 0.2 * row.reference : 0;
                QVERIFY2(std::abs(row.difference() - expected) < 0.01 * row.reference, textOf(row));
            }
        // The largest difference is told first, behind the sums of all.
        const int sums = int(f.pair().kinds.size());
        QVERIFY(f.view().times->model()->rowCount() > sums);
        // Kernels of both: what became of them adds up to the difference of all kernels, of one step of one rank.
        QVERIFY(f.pair().kernels && f.pair().kernels->differences->isPerStep);
        const KernelDifferences &kernels = *f.pair().kernels->differences;
        double sum = 0;
        for (const KernelDifference &row : kernels.rows)
            sum += row.difference();
        QVERIFY(std::abs(sum - (kernels.after - kernels.before)) < 1e-6 * kernels.after);
        QVERIFY(f.view().kernels->model()->rowCount() > 0);
        QVERIFY(f.pair().lanes[0] && f.pair().lanes[1]);
        QVERIFY(f.view().upper->run->rowNames().join(u'\n').contains(QStringLiteral("rank 5")));
    }

    void aRunBesideItselfDiffersNowhere()
    {
        Fixture f;
        QVERIFY(f.open("/runs/good", recorded({ .steps = 3 })));
        f.choose(f.page.before, 1);
        f.choose(f.page.after, 1);
        QVERIFY(f.settle());
        QVERIFY(until([&] { return f.pair().before.run && f.pair().after.run; }));
        for (const PlaceDifference &row : f.pair().places)
            QCOMPARE(row.difference(), 0.0);
        for (const ComparedNumber &number : f.pair().numbers)
            QCOMPARE(number.before, number.after);
        QCOMPARE(f.pair().kernels->differences->after, f.pair().kernels->differences->before);
    }

    void aLogTellsItsStepAndNothingElse()
    {
        const double planned = *thePlan()->metrics.iterationTime;
        Fixture f;
        QVERIFY(f.open("/runs/log", logged({ 9 * planned, planned, 1.5 * planned, planned, planned })));
        f.choose(f.page.after, 1);
        QVERIFY(f.settle());
        QVERIFY(!f.pair().lanes[1] && f.pair().places.empty());
        QVERIFY(f.pair().notes.join(u'\n').contains(QStringLiteral("without traces")));
        const EvidenceTable *numbers = f.view().numbers;
        QCOMPARE(f.cell(numbers, "Tokens per second per GPU", 2), QStringLiteral("–"));

        // Another step, typed into its box; the run remembers it.
        QSpinBox *step = f.view().lower->step;
        QVERIFY(step->isVisible());
        QCOMPARE(step->value(), step->minimum());
        step->setFocus();
        step->selectAll();
        QTest::keyClicks(step, "3");
        QTest::keyClick(step, Qt::Key_Return);
        QCOMPARE(f.loaded.all()[0].step, std::optional<std::int64_t>(3));
        QVERIFY(until([&] { return f.pair().after.step == 3 && !f.view().comparison().isUnderWay(); }));
        const auto time =
            std::ranges::find(f.pair().numbers, std::string_view(samples::kStepTime), &ComparedNumber::name);
        QVERIFY(time != f.pair().numbers.end() && std::abs(*time->after - 1.5 * planned) < 1e-9 * planned);
        QVERIFY2(f.page.verdict().contains(QStringLiteral("+50")), qPrintable(f.page.verdict()));
    }

    void aRunThatIsClosedLeavesTheListsAndPlansAreComparedAgain()
    {
        Fixture f;
        QVERIFY(f.open("/runs/own", recorded(exactly())));
        f.choose(f.page.after, 1);
        QVERIFY(f.settle());
        QVERIFY(f.view().isVisible());
        f.loaded.close(f.loaded.all()[0].id);
        QCOMPARE(f.page.after->count(), 1);
        QVERIFY(!f.view().isVisible() && f.page.upper->isVisible());
        QVERIFY(until([&] { return f.page.comparison().pair() && f.page.comparison().pair()->before; }));
    }
};

TRAINYARD_TEST(CompareRunsTest)
#include "tst_compare_runs.moc"
