// SPDX-License-Identifier: GPL-3.0-or-later
// The list of jobs: cells are typed into, rows moved, paused and dropped, and each edit is one step to undo that says
// what it did.
#include "jobs_fixture.h"
#include "tests/support/test_program.h"

#include "views/panels/strategy_row.h"
#include "views/parts/text_line.h"
#include "views/theme/switch_button.h"

#include <QApplication>
#include <QDropEvent>
#include <QMimeData>

using namespace trainyard;

class JobsPanelTest : public QObject, JobsFixture {
    Q_OBJECT

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }
    void cleanup() { stop(); }

    void cellsAreTypedInto()
    {
        start(fourJobs());
        typeInto(1, JobListModel::Batch, QStringLiteral("32"));
        QCOMPARE(undoText(), QStringLiteral("Batch of gpt-3-1.3b, batch 16 16 → 32"));
        QCOMPARE(names()[1], std::string("gpt-3-1.3b, batch 32"));
        typeInto(1, JobListModel::Steps, QStringLiteral("30 x 2"));
        QCOMPARE(plan().jobs[1].minibatches, 30);
        QCOMPARE(plan().jobs[1].epochs, 2);
        QCOMPARE(m_document->undoStack().count(), 2); // one step, though two numbers changed
        typeInto(2, JobListModel::End, QStringLiteral("5 min"));
        QCOMPARE(*plan().jobs[2].deadlineS, 300.0);
        QCOMPARE(undoText(), QStringLiteral("Deadline of gpt-3-2.7b, batch 8 300 s"));
        typeInto(2, JobListModel::End, QStringLiteral("soon"));
        QCOMPARE(*plan().jobs[2].deadlineS, 300.0);
        QVERIFY2(m_panel->factsLine()->text().contains(QStringLiteral("not “soon”")),
            qPrintable(m_panel->factsLine()->text()));
        typeInto(3, JobListModel::Name, QStringLiteral("mine"));
        QCOMPARE(plan().jobs[3].name, std::string("mine"));
        typeInto(0, JobListModel::Batch, QStringLiteral("8")); // as it is
        QCOMPARE(m_document->undoStack().count(), 4);
    }

    void aDeadlineIsWeighedAgainstTheEnd()
    {
        start(fourJobs());
        typeInto(0, JobListModel::End, QStringLiteral("1 ms"));
        typeInto(1, JobListModel::End, QStringLiteral("30 days"));
        evaluateNow();
        QCOMPARE(m_panel->model()->row(0).deadlineState, DeadlineState::Missed);
        QCOMPARE(m_panel->model()->row(1).deadlineState, DeadlineState::Met);
        const auto shown = [this](
                               int row) { return m_panel->model()->index(row, JobListModel::End).data().toString(); };
        QVERIFY(shown(0).startsWith(u'✕') && shown(1).startsWith(u'✓')); // not by colour alone
    }

    void jobsArePausedResumedMovedAndRemovedByKeys()
    {
        start(fourJobs());
        const std::vector<std::string> before = names();
        JobList *list = m_panel->list();
        list->setFocus();
        list->choose(2);
        QTest::keyClick(list, Qt::Key_Space);
        QCOMPARE(undoText(), QStringLiteral("Pause gpt-3-2.7b, batch 8"));
        evaluateNow();
        QCOMPARE(m_panel->model()->row(2).state, JobState::Paused);
        QCOMPARE(m_panel->model()->row(2).to, 0.0);
        QVERIFY(button(QStringLiteral("Resume")));
        QTest::keyClick(list, Qt::Key_Space);
        QCOMPARE(undoText(), QStringLiteral("Resume gpt-3-2.7b, batch 8"));
        QTest::keyClick(list, Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(undoText(), QStringLiteral("Move gpt-3-2.7b, batch 8 up"));
        QCOMPARE(list->chosen(), std::vector<int> { 1 }); // the same job is still selected
        QCOMPARE(names()[1], before[2]);
        QTest::keyClick(list, Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(names(), before);
        list->choose(0);
        QTest::keyClick(list, Qt::Key_Down, Qt::ShiftModifier);
        QCOMPARE(list->chosen(), (std::vector<int> { 0, 1 }));
        QTest::keyClick(list, Qt::Key_Delete);
        QCOMPARE(undoText(), QStringLiteral("Remove 2 jobs"));
        QCOMPARE(names(), (std::vector<std::string> { before[2], before[3] }));
        m_document->undoStack().undo();
        QCOMPARE(names(), before);
    }

    void whatIsTypedIntoOneOfSeveralIsTypedIntoAll()
    {
        start(fourJobs());
        JobList *list = m_panel->list();
        list->setFocus();
        list->choose(0);
        list->setCurrentIndex(m_panel->model()->index(0, JobListModel::Steps));
        QTest::keyClick(list, Qt::Key_Down, Qt::ShiftModifier);
        QTest::keyClick(list, Qt::Key_Down, Qt::ShiftModifier);
        QVERIFY(m_panel->factsLine()->text().startsWith(QStringLiteral("3 jobs are selected")));
        QTest::keyClick(list, Qt::Key_F2);
        auto *field = list->viewport()->findChild<QLineEdit *>();
        QVERIFY(field);
        field->selectAll();
        QTest::keyClicks(field, QStringLiteral("50"));
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_VERIFY(!list->isEditing());
        QCOMPARE(undoText(), QStringLiteral("Mini-batches of 3 jobs 20 → 50"));
        for (int i = 0; i < 4; ++i)
            QCOMPARE(plan().jobs[std::size_t(i)].minibatches, i < 3 ? 50 : 20);
    }

    void aRowThatIsDroppedStandsThere()
    {
        start(fourJobs());
        const std::vector<std::string> before = names();
        JobList *list = m_panel->list();
        const std::unique_ptr<QMimeData> job(m_panel->model()->mimeData({ m_panel->model()->index(0, 0) }));
        QCOMPARE(QString::fromUtf8(job->data(QString::fromLatin1(kJobMime))), QString::fromStdString(before[0]));
        const QPoint at = list->visualRect(m_panel->model()->index(2, 0)).bottomLeft() + QPoint(40, 0);
        QDragEnterEvent enter(at, Qt::MoveAction, job.get(), Qt::LeftButton, {});
        QApplication::sendEvent(list->viewport(), &enter);
        QVERIFY(enter.isAccepted());
        QDragMoveEvent move(at, Qt::MoveAction, job.get(), Qt::LeftButton, {});
        QApplication::sendEvent(list->viewport(), &move);
        QDropEvent drop(at, Qt::MoveAction, job.get(), Qt::LeftButton, {});
        QApplication::sendEvent(list->viewport(), &drop);
        QCOMPARE(undoText(), QStringLiteral("Move gpt-3-1.3b, batch 8 to place 3"));
        QCOMPARE(names(), (std::vector<std::string> { before[1], before[2], before[0], before[3] }));
        QCOMPARE(list->chosen(), std::vector<int> { 2 });
    }

    void schedulersAndSwitchesAreChosenHere()
    {
        start(fourJobs());
        StrategyRow *scheduler = m_panel->row("job_scheduler");
        QVERIFY(scheduler && scheduler->isVisible());
        StrategyRow *buffer = m_panel->row("double_buffer"), *ahead = m_panel->row("look_ahead");
        QVERIFY(buffer->toggle()->isChecked() && ahead->toggle()->isChecked());
        QVERIFY(!ahead->toggle()->isEnabled()); // a buffer is filled ahead
        QVERIFY(ahead->toggle()->toolTip().contains(QStringLiteral("double buffering implies it")));
        QTest::mouseClick(buffer->toggle(), Qt::LeftButton);
        QCOMPARE(undoText(), QStringLiteral("Double buffer on → off"));
        QVERIFY(!plan().jobOptions.doubleBuffer && ahead->toggle()->isEnabled());
        m_document->apply(withScheduler(plan(), JobScheduler::Pipeline).plan);
        QVERIFY(!buffer->toggle()->isEnabled());
        QVERIFY(buffer->toggle()->toolTip().contains(QStringLiteral("whole GPUs to whole jobs")));
    }

    void columnsLeaveFromTheRightWhereThereIsNoRoom()
    {
        start(fourJobs());
        JobList *list = m_panel->list();
        const auto shown = [list](int column) { return !list->isColumnHidden(column); };
        QVERIFY(shown(JobListModel::Batch) && shown(JobListModel::End) && shown(JobListModel::Steps));
        QVERIFY(!shown(JobListModel::Gpus));
        m_panel->resize(640, 700);
        QTRY_VERIFY(shown(JobListModel::Price) && shown(JobListModel::Deadline));
        m_panel->resize(260, 700);
        QTRY_VERIFY(!shown(JobListModel::Price) && shown(JobListModel::Name));
        QVERIFY(list->columnWidth(JobListModel::Name) >= 60);
    }

    void theTableIsCopiedWhole()
    {
        start(fourJobs());
        const QStringList lines = m_panel->toTsv().split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 5);
        for (const QString &line : lines)
            QCOMPARE(line.count(u'\t'), lines.front().count(u'\t'));
        QVERIFY(lines[1].startsWith(QStringLiteral("gpt-3-1.3b, batch 8\tgpt-3-1.3b\t8\t20\t1")));
    }
};

TRAINYARD_TEST(JobsPanelTest)
#include "tst_jobs_panel.moc"
