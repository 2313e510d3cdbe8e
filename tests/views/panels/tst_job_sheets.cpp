// SPDX-License-Identifier: GPL-3.0-or-later
// Forms about jobs: a grid from nothing, one job, pins and clones, filled in as a user does.
#include "jobs_fixture.h"
#include "tests/support/test_program.h"

#include "views/panels/job_form.h"
#include "views/panels/job_grid_sheet.h"
#include "views/panels/job_pin_sheet.h"
#include "views/parts/text_line.h"
#include "views/start/choice_field.h"

#include <QApplication>
#include <QListWidget>
#include <QToolButton>

using namespace trainyard;

class JobSheetsTest : public QObject, JobsFixture {
    Q_OBJECT

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }
    void cleanup() { stop(); }

    void aGridOfTwelveJobsIsMadeFromNothing()
    {
        start(lab());
        QVERIFY(!hasJobs(plan()) && m_panel->beginButton()->isVisible());
        QTest::mouseClick(m_panel->beginButton(), Qt::LeftButton);
        auto *sheet = qobject_cast<JobGridSheet *>(m_panel->sheet());
        QVERIFY(sheet);
        // the plan's own model is checked; a second one is found by typing and checked with Space
        QCOMPARE(sheet->grid().model, std::vector<std::string> { "gpt-3-1.3b" });
        sheet->filter()->setFocus();
        QTest::keyClicks(sheet->filter(), QStringLiteral("GPT-3 2.7B"));
        int shown = -1;
        for (int i = 0; i < sheet->models()->count(); ++i)
            if (!sheet->models()->item(i)->isHidden())
                shown = i;
        QVERIFY(shown >= 0);
        sheet->models()->setFocus();
        sheet->models()->setCurrentRow(shown);
        QTest::keyClick(sheet->models(), Qt::Key_Space);
        sheet->batches()->selectAll();
        QTest::keyClicks(sheet->batches(), QStringLiteral("8, 16, 32"));
        sheet->rates()->selectAll();
        QTest::keyClicks(sheet->rates(), QStringLiteral("1e-4 3e-4"));
        sheet->minibatches()->selectAll();
        QTest::keyClicks(sheet->minibatches(), QStringLiteral("20"));
        // 2 models x 3 batches x 2 rates
        QCOMPARE(jobsOf(sheet->grid()), 12.0);
        QVERIFY2(sheet->preview()->text().startsWith(QStringLiteral("12 jobs: gpt-3-1.3b, batch 8, 0.0001;")),
            qPrintable(sheet->preview()->text()));
        QVERIFY(sheet->preview()->text().endsWith(QStringLiteral("and 8 more.")));
        QCOMPARE(sheet->doneButton()->text(), QStringLiteral("Add 12 jobs"));
        QTest::keyClick(sheet->minibatches(), Qt::Key_Return);
        QCOMPARE(undoText(), QStringLiteral("Add a grid of 12 jobs"));
        QVERIFY(!m_panel->sheet());
        QCOMPARE(m_panel->model()->rowCount(), 12);
        QVERIFY(m_panel->list()->isVisible() && !m_panel->beginButton()->isVisible());
        evaluateNow();
        for (int row = 0; row < 12; ++row)
            QVERIFY(m_panel->model()->row(row).to > 0); // each has its place in the time of all
        QVERIFY2(m_panel->sentenceLine()->text().startsWith(QStringLiteral("All jobs take ")),
            qPrintable(m_panel->sentenceLine()->text()));
        m_document->undoStack().undo();
        QVERIFY(!hasJobs(plan()) && m_panel->beginButton()->isVisible());
    }

    void whatIsWrongInAGridIsSaidAndNothingIsAdded()
    {
        start(lab());
        m_panel->addGrid();
        auto *sheet = qobject_cast<JobGridSheet *>(m_panel->sheet());
        sheet->batches()->setText(QStringLiteral("8, many"));
        QCOMPARE(sheet->messageLine()->text(),
            QStringLiteral("Batches: a whole number from 1 to 10,000,000 is wanted, not “many”."));
        QVERIFY(!sheet->doneButton()->isEnabled());
        QTest::keyClick(sheet->batches(), Qt::Key_Return);
        QVERIFY(m_panel->sheet() && !hasJobs(plan()));
        sheet->batches()->setText(QString());
        QCOMPARE(sheet->messageLine()->text(), QStringLiteral("Batches: a number is missing."));
        QTest::keyClick(sheet->batches(), Qt::Key_Escape);
        QVERIFY(!m_panel->sheet() && !hasJobs(plan()));
    }

    void oneJobIsAddedByItsForm()
    {
        start(fourJobs());
        QTest::mouseClick(button(QStringLiteral("Add…")), Qt::LeftButton);
        auto *form = qobject_cast<JobForm *>(m_panel->sheet());
        QVERIFY(form && form->model()->hasFocus());
        form->model()->selectAll();
        QTest::keyClicks(form->model(), QStringLiteral("Llama 3 8B"));
        QTest::keyClick(form->model(), Qt::Key_Tab);
        form->field(QStringLiteral("Batch"))->setText(QStringLiteral("4"));
        form->field(QStringLiteral("Deadline"))->setText(QStringLiteral("soon"));
        QVERIFY(!form->doneButton()->isEnabled());
        form->field(QStringLiteral("Deadline"))->setText(QStringLiteral("2 h"));
        QTest::mouseClick(form->doneButton(), Qt::LeftButton);
        QCOMPARE(undoText(), QStringLiteral("Add the job llama-3-8b"));
        QVERIFY(plan().jobGrid); // the grid is still one entry
        QCOMPARE(plan().jobs.size(), std::size_t(1));
        QCOMPARE(plan().jobs[0].batch, 4);
        QCOMPARE(*plan().jobs[0].deadlineS, 7200.0);
        QCOMPARE(m_panel->list()->chosen(), std::vector<int> { 0 }); // where it stands
    }

    void aJobIsPinnedByNumberAndByPress()
    {
        start(fourJobs());
        m_panel->list()->choose(1);
        QTest::mouseClick(button(QStringLiteral("Pin…")), Qt::LeftButton);
        auto *sheet = qobject_cast<JobPinSheet *>(m_panel->sheet());
        QVERIFY(sheet && sheet->field()->hasFocus());
        QCOMPARE(sheet->buttons().size(), std::size_t(4));
        QTest::keyClicks(sheet->field(), QStringLiteral("0, 9"));
        QVERIFY(!sheet->doneButton()->isEnabled());
        QVERIFY(sheet->messageLine()->text().contains(QStringLiteral("from 0 to 3")));
        sheet->field()->clear();
        QTest::mouseClick(sheet->buttons()[2], Qt::LeftButton);
        QTest::mouseClick(sheet->buttons()[3], Qt::LeftButton);
        QCOMPARE(sheet->field()->text(), QStringLiteral("2, 3"));
        QTest::mouseClick(sheet->doneButton(), Qt::LeftButton);
        QCOMPARE(undoText(), QStringLiteral("Pin gpt-3-1.3b, batch 16 to GPUs 2, 3"));
        QCOMPARE(plan().jobs[1].pinnedGpus, (std::vector<int> { 2, 3 }));
        evaluateNow();
        QVERIFY(m_panel->model()->row(1).isPinned);
        m_panel->pinChosen();
        sheet = qobject_cast<JobPinSheet *>(m_panel->sheet());
        QVERIFY(sheet->buttons()[2]->isChecked() && !sheet->buttons()[0]->isChecked());
        sheet->field()->clear();
        QTest::keyClick(sheet->field(), Qt::Key_Return);
        QCOMPARE(undoText(), QStringLiteral("Let gpt-3-1.3b, batch 16 run on any GPU"));
    }

    void anEditedJobKeepsWhatItsFormDoesNotShow()
    {
        Plan plan = fourJobs();
        plan = withGridExpanded(plan);
        plan.jobs[0].unitMs = { 1, 2, 3 };
        plan.jobs[0].pinnedGpus = { 1 };
        start(plan);
        m_panel->list()->choose(0);
        m_panel->editChosen();
        auto *form = qobject_cast<JobForm *>(m_panel->sheet());
        form->field(QStringLiteral("Priority"))->setText(QStringLiteral("3"));
        QTest::keyClick(form->field(QStringLiteral("Priority")), Qt::Key_Return);
        QCOMPARE(undoText(), QStringLiteral("Edit gpt-3-1.3b, batch 8"));
        Job wanted = plan.jobs[0];
        wanted.priority = 3;
        QVERIFY(this->plan().jobs[0] == wanted);
    }

    void aCloneAsAGridStandsBehindItsOriginal()
    {
        start(fourJobs());
        m_panel->list()->choose(1);
        m_panel->cloneChosen();
        auto *sheet = qobject_cast<JobGridSheet *>(m_panel->sheet());
        QVERIFY(sheet && sheet->batches()->hasFocus());
        QTest::keyClicks(sheet->batches(), QStringLiteral("24, 48"));
        QTest::keyClick(sheet->batches(), Qt::Key_Return);
        QCOMPARE(undoText(), QStringLiteral("Clone gpt-3-1.3b, batch 16 as 2 jobs"));
        QCOMPARE(names()[2], std::string("gpt-3-1.3b, batch 24"));
        QCOMPARE(m_panel->list()->chosen(), std::vector<int> { 2 });
    }

    void aFormAboutJobsClosesWhereThePlanChangesUnderIt()
    {
        start(fourJobs());
        m_panel->list()->choose(0);
        m_panel->pinChosen();
        QVERIFY(m_panel->sheet());
        m_document->apply(withJobsRemoved(plan(), { 0 }).plan);
        QTRY_VERIFY(!m_panel->sheet());
        QCOMPARE(m_panel->model()->rowCount(), 3);
    }
};

TRAINYARD_TEST(JobSheetsTest)
#include "tst_job_sheets.moc"
