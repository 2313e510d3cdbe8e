#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A strategy panel on a document, used as a user does: what is chosen becomes the plan, one step to undo at a time.

#include "hand_made.h"
#include "models/plan_document.h"
#include "views/panels/effect_columns.h"
#include "views/panels/effect_combo.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"

#include <QAbstractItemView>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace trainyard {

class StrategyFixture {
protected:
    QTemporaryDir m_state;
    std::unique_ptr<PlanDocument> m_document;
    std::unique_ptr<StrategyPanel> m_panel;

    [[nodiscard]] const Plan &plan() const { return *m_document->plan(); }
    [[nodiscard]] QString undoText() { return m_document->undoStack().undoText(); }
    [[nodiscard]] bool shows(const char *group) const { return m_panel->row(group)->isVisibleTo(m_panel.get()); }

    void start(Plan plan)
    {
        m_panel.reset();
        m_document = std::make_unique<PlanDocument>(handmade::shared(std::move(plan)), m_state.path());
        m_panel = std::make_unique<StrategyPanel>(builtinCatalogue());
        PlanDocument *document = m_document.get();
        QObject::connect(document, &PlanDocument::planChanged, m_panel.get(),
            [panel = m_panel.get()](const PlanPtr &next) { panel->setShown(shownOf(next)); });
        QObject::connect(m_panel.get(), &StrategyPanel::editCommitted, document,
            [document](const PlanPtr &next, const QString &text) { document->apply(next, text); });
        QObject::connect(m_panel.get(), &StrategyPanel::editStepped, document,
            [document](const PlanPtr &next, const QString &key) { document->apply(next, {}, key); });
        m_panel->resize(420, 900);
        m_panel->setShown(shownOf(m_document->plan()));
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }
    void stop()
    {
        m_panel.reset();
        m_document.reset();
    }

    /// From the list of a row, by the beginning of its text.
    void choose(const char *group, const QString &label)
    {
        EffectCombo *list = m_panel->row(group)->list();
        list->setFocus();
        const int index = list->findText(label, Qt::MatchStartsWith);
        QVERIFY2(index >= 0, qPrintable(label));
        list->showPopup();
        list->view()->setCurrentIndex(list->model()->index(index, 0));
        QTest::keyClick(list->view(), Qt::Key_Return);
    }
};

} // namespace trainyard
