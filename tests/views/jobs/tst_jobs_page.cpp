// SPDX-License-Identifier: GPL-3.0-or-later
// The page that compares schedulers, with comparisons made by hand, under real clicks.
#include "core/facts/plan/enum_names.h"
#include "models/text/format.h"
#include "tests/support/job_evaluation.h"
#include "tests/support/test_program.h"
#include "views/jobs/job_words.h"
#include "views/jobs/jobs_page.h"
#include "views/jobs/mini_gantt.h"
#include "views/jobs/scheduler_cell.h"
#include "views/jobs/variant_bars.h"
#include "views/parts/text_line.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

namespace {

/// A scheduler that takes `slower` times as long as the first.
JobVariant variant(JobScheduler scheduler, int slower, int gpus = 4)
{
    test::JobShape shape;
    shape.gpus = gpus;
    shape.unit *= slower;
    shape.load *= slower;
    Plan plan = test::jobPlan(shape);
    plan.jobScheduler = scheduler;
    JobVariant made;
    made.name = labelOf(scheduler);
    made.plan = std::make_shared<const Plan>(plan);
    made.evaluation = test::jobEvaluation(shape, made.plan);
    return made;
}

JobComparison comparisonOf(const std::vector<JobVariant> &schedulers)
{
    JobComparison made;
    made.plan = schedulers.front().plan;
    made.schedulers = schedulers;
    for (const int step : { 4, 2, 1 })
        made.ablation.push_back(variant(JobScheduler::ShardedLrtf, step));
    for (const int gpus : { 1, 2, 4 }) {
        made.scaling.push_back(variant(JobScheduler::ShardedLrtf, 1, gpus));
        made.scaling.back().name = std::to_string(gpus) + " GPUs";
    }
    made.oneMore = { variant(JobScheduler::ShardedLrtf, 1, 5) };
    made.isComplete = true;
    return made;
}

} // namespace

class JobsPageTest : public QObject {
    Q_OBJECT
    std::unique_ptr<JobsPage> m_page;

    void show(JobComparison comparison)
    {
        const auto shared = std::make_shared<const JobComparison>(std::move(comparison));
        m_page->setPlan(shared->plan, QStringLiteral("lab"));
        m_page->setComparison(shared);
        QCoreApplication::processEvents();
    }

private slots:
    void init()
    {
        m_page = std::make_unique<JobsPage>(builtinCatalogue());
        m_page->study().setRest(std::chrono::hours(1)); // what it would find is not asked for here
        m_page->resize(1280, 680);
        m_page->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_page.get()));
    }
    void cleanup() { m_page.reset(); }

    void schedulersStandSideBySideOverOneTime()
    {
        show(comparisonOf({ variant(JobScheduler::ShardedLrtf, 1), variant(JobScheduler::Fifo, 2),
            variant(JobScheduler::ModelParallel, 4) }));
        QCOMPARE(m_page->cells().size(), std::size_t(3));
        QStringList names;
        std::vector<int> coloured; // columns of the first GPU where anything runs
        for (const SchedulerCell *cell : m_page->cells()) {
            QVERIFY(cell->isVisible());
            names << cell->name->text();
            const QImage &picture = cell->gantt->picture();
            int columns = 0;
            for (int x = 0; x < picture.width(); ++x)
                columns += picture.pixelColor(x, 1) != theme().idle;
            coloured.push_back(columns);
        }
        QCOMPARE(names.at(1), QString::fromUtf8(labelOf(JobScheduler::Fifo)));
        // The same work in 2 and 4 times the time is 2 and 4 times as wide, within a pixel a span.
        const int spans = 3 * 3 * 6 / 4 + 8;
        QVERIFY(std::abs(coloured[1] - 2 * coloured[0]) <= 2 * spans);
        QVERIFY(std::abs(coloured[2] - 2 * coloured[1]) <= 2 * spans);
        QVERIFY(coloured[2] > 3 * coloured[0]);
    }

    void aSchedulerUnderWhichNothingRunsIsNotOffered()
    {
        JobVariant none = variant(JobScheduler::TaskParallel, 1);
        none.evaluation = nullptr;
        none.note = "no model fits a GPU";
        show(comparisonOf({ variant(JobScheduler::ShardedLrtf, 1), none }));
        QVERIFY(!m_page->cells()[1]->use->isEnabled());
        QCOMPARE(m_page->cells()[1]->use->toolTip(), QStringLiteral("no model fits a GPU"));
    }

    void theButtonChoosesTheScheduler()
    {
        show(comparisonOf({ variant(JobScheduler::ShardedLrtf, 1), variant(JobScheduler::Fifo, 2) }));
        QSignalSpy chosen(m_page.get(), &JobsPage::schedulerChosen);
        QVERIFY(!m_page->cells()[0]->use->isEnabled());
        QCOMPARE(m_page->cells()[0]->use->text(), QStringLiteral("In use"));
        QTest::mouseClick(m_page->cells()[1]->use, Qt::LeftButton);
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen.at(0).at(0).value<JobScheduler>(), JobScheduler::Fifo);
    }

    void factorsAreOfTheTimes()
    {
        const JobComparison made = comparisonOf({ variant(JobScheduler::ShardedLrtf, 1),
            variant(JobScheduler::ModelParallel, 4), variant(JobScheduler::Pipeline, 2) });
        const double own = *made.schedulers[0].makespan(), model = *made.schedulers[1].makespan();
        QCOMPARE(againstOwn(made, made.schedulers[1]), QStringLiteral("× %1").arg(model / own, 0, 'f', 2));
        QVERIFY(againstOwn(made, made.schedulers[0]).isEmpty());
        const QString sentence = resultSentence(made);
        QVERIFY2(sentence.contains(
                     QStringLiteral("%1 × as fast as model parallelism (min(G, n) = 4)").arg(model / own, 0, 'f', 2)),
            qPrintable(sentence));
        QVERIFY(sentence.contains(QStringLiteral("a pipeline")));
    }

    void barsSayGainsAndWhatIsPossible()
    {
        const JobComparison made = comparisonOf({ variant(JobScheduler::ShardedLrtf, 1) });
        show(made);
        const std::vector<VariantBar> &parts = m_page->ablation->bars();
        QCOMPARE(parts.size(), std::size_t(3));
        QVERIFY(parts[0].relation.isEmpty());
        QCOMPARE(parts[1].relation, QStringLiteral("÷ 2.00")); // half the time
        const std::vector<VariantBar> &steps = m_page->scaling->bars();
        QCOMPARE(*steps[0].value, 1.0);
        // speed-up = time on one GPU ÷ time on G; at best min(G, n)
        QVERIFY(std::abs(*steps[2].value - *made.scaling[0].makespan() / *made.scaling[2].makespan()) < 1e-12);
        QCOMPARE(*steps[2].ideal, 4.0);
        QVERIFY(steps[2].isOwn && !steps[0].isOwn);
        QCOMPARE(m_page->oneMore->bars().size(), std::size_t(1));
        const double more = *made.oneMore[0].makespan(), own = *made.schedulers[0].makespan();
        QCOMPARE(
            m_page->oneMore->bars()[0].relation, more == own ? QStringLiteral("no gain") : formatChange(own, more));
    }

    void whatHasNoTimeSaysWhy()
    {
        JobVariant none;
        none.name = "A job a GPU";
        none.note = "no job fits a GPU";
        Plan plan = test::jobPlan({});
        plan.jobScheduler = JobScheduler::TaskParallel;
        none.plan = std::make_shared<const Plan>(plan);
        show(comparisonOf({ variant(JobScheduler::ShardedLrtf, 1), none }));
        QCOMPARE(m_page->cells()[1]->time->text(), QStringLiteral("–"));
        QVERIFY(m_page->cells()[1]->gantt->picture().isNull());
        QVERIFY(m_page->toTsv().contains(QStringLiteral("no job fits a GPU")));
    }

    void aPlanWithoutJobsSaysWhatToDo()
    {
        m_page->study().setRest(std::chrono::milliseconds(0));
        QSignalSpy completed(m_page.get(), &JobsPage::completed);
        m_page->setPlan(std::make_shared<const Plan>(), QStringLiteral("one model"));
        QVERIFY(completed.wait(5000));
        bool says = false;
        for (const TextLine *line : m_page->findChildren<TextLine *>())
            says = says || (line->isVisible() && line->text().contains(QStringLiteral("Add jobs")));
        QVERIFY(says);
        QVERIFY(!m_page->exportCsv->isEnabled() && !m_page->solve->isEnabled());
    }

    void anotherPlanDimsWhatIsShownUntilItsComparisonIsThere()
    {
        show(comparisonOf({ variant(JobScheduler::ShardedLrtf, 1) }));
        QVERIFY(m_page->solve->isEnabled());
        m_page->setPlan(std::make_shared<const Plan>(test::jobPlan({ .jobs = 3 })), QStringLiteral("lab"));
        QVERIFY(!m_page->solve->isEnabled());
        QVERIFY(m_page->cells()[0]->isVisible());
    }

    void escapeGoesBack()
    {
        QSignalSpy closed(m_page.get(), &JobsPage::closed);
        m_page->setFocus();
        QTest::keyClick(m_page.get(), Qt::Key_Escape);
        QTest::mouseClick(m_page->back, Qt::LeftButton);
        QVERIFY(closed.size() >= 1);
    }

    void theTableHasEveryVariant()
    {
        const JobComparison made =
            comparisonOf({ variant(JobScheduler::ShardedLrtf, 1), variant(JobScheduler::Fifo, 2) });
        QCOMPARE(comparisonTable(made, u'\t').count(u'\n'), 1 + 2 + 3 + 3 + 1);
        // A name with a comma is quoted where commas separate.
        QVERIFY(comparisonTable(made, u',').contains(QStringLiteral("\"First in, first out\"")));
    }
};

TRAINYARD_TEST(JobsPageTest)
#include "tst_jobs_page.moc"
