#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The marks of the scatter with their names and how many there are, on one line. GUI thread.

#include "core/planner/search/search.h"

#include <QWidget>

#include <array>

namespace trainyard {

class ScatterLegend : public QWidget {
    Q_OBJECT
public:
    explicit ScatterLegend(QWidget *parent = nullptr);
    /// by RowState
    void setCounts(const std::array<std::size_t, 5> &counts);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] QString textOf(RowState state, bool isShort) const;

    std::array<std::size_t, 5> m_counts {};
};

} // namespace trainyard
