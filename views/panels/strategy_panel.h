#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One control per strategy, grouped; beside each, what its best other value would do to the iteration, and in its list
// what every value would do. Rows and sections that do not apply to the plan are not there. Choosing emits the next
// plan; highlighting a value previews it. What the rows are: strategy_entries. GUI thread.

#include "core/facts/catalogue/catalogue.h"
#include "models/effects.h"
#include "models/shown.h"
#include "views/panels/strategy_entries.h"

#include <QWidget>

#include <set>
#include <tuple>
#include <vector>

class QPushButton;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace trainyard {

class FileRow;
class NumberRow;
class PinButton;
class ScrollAnchor;
class SectionTitle;
class StrategyRow;
class TextLine;

class StrategyPanel : public QWidget {
    Q_OBJECT
public:
    explicit StrategyPanel(const Catalogue &catalogue, QWidget *parent = nullptr);

    /// The values of the plan that is shown, and what "auto" came to; edits start from its base.
    void setShown(const Shown &shown);
    void setEffects(EffectTablePtr effects);
    /// Another plan than this panel's is shown in the window: what stands here about effects must look it.
    void setOutdated(bool isOutdated);
    /// nullptr where the panel has none
    [[nodiscard]] StrategyRow *row(const std::string &group) const;
    /// Keys that the planner keeps, of which each control shows its own.
    void setPins(const std::set<std::string> &keys);
    /// nullptr where the panel has none
    [[nodiscard]] PinButton *pin(const std::string &key) const;
    /// The key whose control has the keyboard; empty: none.
    [[nodiscard]] std::string focusedKey() const;
    /// Brings the section of a group to the top and keeps it there until someone scrolls.
    void scrollTo(const std::string &group);
    /// That have a control for this plan, those that are folded away included.
    [[nodiscard]] std::vector<std::string> keys() const;
    /// Unfolds and scrolls to the control of a key and gives it the keyboard. False: there is none.
    bool goToKey(const std::string &path);

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    /// One step of a number; steps with the same key are one to undo.
    void editStepped(trainyard::PlanPtr next, QString mergeKey);
    /// The planner is to keep the value of a key, or need not any more.
    void pinToggled(const std::string &key, bool isPinned);

private:
    struct Section {
        SectionTitle *title;
        std::vector<std::pair<const StrategyEntry *, QWidget *>> rows;
        /// unfolds the advanced ones
        QToolButton *more = nullptr;
    };
    void addRows();
    void addServed(QVBoxLayout &rows, QWidget *parent);
    [[nodiscard]] QToolButton *makeFold(QWidget *parent);
    [[nodiscard]] QWidget *makeRow(const StrategyEntry &entry, QWidget *parent);
    void setNumber(const StrategyEntry &entry, double value, int gesture);
    void setKey(const StrategyEntry &entry, int number);
    void setTrace(const QString &path);
    void rebuild();
    void showEffects();
    void showWhatApplies();
    /// of the plan shown, or nullptr
    void showRoom(const Evaluation *evaluation);

    const Catalogue &m_catalogue;
    ScrollAnchor *m_anchor = nullptr;
    /// the plan that edits start from
    PlanPtr m_plan;
    /// the plan and the evaluation that the rows show
    PlanPtr m_shownPlan;
    EvaluationPtr m_evaluation;
    /// the plans whose alternatives the rows have, and whether the model was known
    std::tuple<PlanPtr, PlanPtr, bool> m_listedFor;
    EffectTablePtr m_effects;
    bool m_isOutdated = false;
    /// rows or effects have changed since they were shown
    bool m_needsEffects = true;
    bool m_showsOld = false;
    std::vector<Section> m_sections;
    std::vector<StrategyRow *> m_rows;
    std::vector<NumberRow *> m_numbers;
    /// by key
    std::vector<std::pair<std::string, PinButton *>> m_pins;
    FileRow *m_trace = nullptr;
    /// what comes of a switch that is on
    TextLine *m_served = nullptr, *m_offloaded = nullptr, *m_exchanged = nullptr;
    /// offers as much prefill as bubbles have room for, and the plan that has it
    QPushButton *m_room = nullptr;
    PlanPtr m_offered;
};

} // namespace trainyard
