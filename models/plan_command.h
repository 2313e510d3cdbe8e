#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The only undo command: from one plan to the next. Successive commands with the same merge key become one; one that
// ends where it began removes itself. GUI thread.

#include "core/facts/plan/plan.h"

#include <QUndoCommand>

#include <functional>

namespace trainyard {

class PlanCommand final : public QUndoCommand {
public:
    using Show = std::function<void(const PlanPtr &)>;
    PlanCommand(PlanPtr before, PlanPtr after, QString text, QString mergeKey, Show show);

    void undo() override { m_show(m_before); }
    void redo() override { m_show(m_after); }
    [[nodiscard]] const PlanPtr &before() const { return m_before; }
    [[nodiscard]] const PlanPtr &after() const { return m_after; }
    [[nodiscard]] int id() const override { return m_mergeKey.isEmpty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand *next) override;

private:
    PlanPtr m_before, m_after;
    QString m_mergeKey;
    /// the text was made from the difference, and is made again after a merge
    bool m_isDescribed;
    Show m_show;
};

/// "Move 8 GPUs Virginia → Oregon"; "… and 2 more" where there are several differences; "Edit" where none is known.
[[nodiscard]] QString describeEdit(const Plan &before, const Plan &after);

} // namespace trainyard
