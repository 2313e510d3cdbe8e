#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The panel of jobs on a document, used as a user does: what is chosen becomes the plan, one step to undo at a time.

#include "core/evaluation/advice/evaluate.h"
#include "models/job_list_model.h"
#include "models/plan_document.h"
#include "tests/support/told.h"
#include "views/panels/job_list.h"
#include "views/panels/jobs_panel.h"
#include "views/theme/theme.h"

#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace trainyard {

/// Four A6000 of one node with 512 GiB of host memory.
inline Plan lab()
{
    Plan plan;
    plan.name = "Lab";
    Datacenter d;
    d.id = "lab";
    d.name = "Lab";
    Pool pool;
    pool.id = "lab-gpus";
    pool.gpu = "a6000-48gb";
    pool.nodes = 1;
    pool.gpusPerNode = 4;
    pool.host = Host { 512, 20, {} };
    d.pools = { pool };
    plan.cluster.datacenters = { d };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.sequenceLength = 1024;
    plan.workload.globalBatch = 32;
    return plan;
}

inline Plan fourJobs()
{
    Plan plan = lab();
    JobGrid grid;
    grid.model = { "gpt-3-1.3b", "gpt-3-2.7b" };
    grid.batch = { 8, 16 };
    grid.minibatches = { 20 };
    grid.sequenceLength = { 1024 };
    plan.jobGrid = grid;
    return plan;
}

class JobsFixture {
protected:
    QTemporaryDir m_state;
    EvaluationWorkspace m_workspace;
    std::unique_ptr<PlanDocument> m_document;
    std::unique_ptr<QWidget> m_window;
    JobsPanel *m_panel = nullptr;

    [[nodiscard]] const Plan &plan() const { return *m_document->plan(); }
    [[nodiscard]] QString undoText() { return m_document->undoStack().undoText(); }
    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (const Job &job : allJobs(plan()))
            all.push_back(job.name);
        return all;
    }
    [[nodiscard]] QPushButton *button(const QString &text) const
    {
        for (QPushButton *one : m_panel->findChildren<QPushButton *>())
            if (one->text() == text && one->isVisibleTo(m_panel))
                return one;
        return nullptr;
    }
    [[nodiscard]] QPoint cell(int row, int column) const
    {
        return m_panel->list()->visualRect(m_panel->model()->index(row, column)).center();
    }
    void evaluateNow()
    {
        auto answer = evaluate(m_document->shownPlan(), builtinCatalogue(), m_workspace);
        QVERIFY2(answer, answer ? "" : answer.error().front().what.c_str());
        m_panel->setShown(test::told(m_document->plan(), *answer));
    }
    void start(Plan of)
    {
        m_window.reset();
        m_document = std::make_unique<PlanDocument>(std::make_shared<const Plan>(std::move(of)), m_state.path());
        m_window = std::make_unique<QWidget>();
        m_panel = new JobsPanel(builtinCatalogue(), m_window.get());
        PlanDocument *document = m_document.get();
        QObject::connect(document, &PlanDocument::planChanged, m_panel,
            [panel = m_panel](const PlanPtr &plan) { panel->setShown(shownOf(plan)); });
        QObject::connect(m_panel, &JobsPanel::editCommitted, document,
            [document](const PlanPtr &next, const QString &text) { document->apply(next, text); });
        m_window->resize(1000, 700);
        m_panel->setGeometry(580, 0, 420, 700);
        m_panel->setShown(shownOf(m_document->plan()));
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        evaluateNow();
    }
    /// Double-click, type, Enter.
    void typeInto(int row, int column, const QString &text)
    {
        JobList *list = m_panel->list();
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, cell(row, column));
        QTest::mouseDClick(list->viewport(), Qt::LeftButton, {}, cell(row, column));
        auto *field = list->viewport()->findChild<QLineEdit *>();
        QVERIFY(field);
        field->selectAll();
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
        QTRY_VERIFY(!list->isEditing());
    }
    void stop()
    {
        m_window.reset();
        m_document.reset();
    }
};

} // namespace trainyard
