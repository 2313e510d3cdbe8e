#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How an exchange looks in bars, curves and the legend: a colour and a shape, so that none is told by colour alone. And
// the legend. GUI thread.

#include "core/evaluation/advice/expert_ablation.h"
#include "views/panels/source_mark.h"

#include <QWidget>

namespace trainyard {

[[nodiscard]] SourceMark stepMark(ExchangeStep step);

class StepLegend : public QWidget {
    Q_OBJECT
public:
    explicit StepLegend(QWidget *parent = nullptr);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard
