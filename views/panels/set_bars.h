#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each set of GPUs computes, holds and waits under one way of sharing: a line a set with three bars, as shares of
// the whole. Paints itself; reads as text. GUI thread.

#include "core/evaluation/advice/sharing_results.h"

#include <QWidget>

namespace trainyard {

class SetBars : public QWidget {
    Q_OBJECT
public:
    explicit SetBars(QWidget *parent = nullptr);
    void setSets(std::vector<SetShare> sets);
    [[nodiscard]] const std::vector<SetShare> &sets() const { return m_sets; }
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    [[nodiscard]] int lineHeight() const { return fontMetrics().height() + 2; }
    [[nodiscard]] std::size_t shownSets() const;

    std::vector<SetShare> m_sets;
};

} // namespace trainyard
