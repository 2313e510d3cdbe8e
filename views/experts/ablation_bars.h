#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The ablation as a table with bars, from the part to the whole: bytes on a NIC, the all-to-all alone, the exchange,
// the layer, the iteration. Each under three exchanges, with what it is of DeepSpeed's, so that a factor of the part is
// never taken for one of the whole. GUI thread.

#include "core/evaluation/advice/expert_comparison.h"

#include <QWidget>

#include <vector>

namespace trainyard {

class AblationBars : public QWidget {
    Q_OBJECT
public:
    struct Measure {
        QString title, help;
        /// empty: not known yet
        std::array<Metric, kExchangeSteps> values;
        /// of a layer, what nothing computes under
        std::array<double, kExchangeSteps> exposed {};
        bool isBytes = false;
        [[nodiscard]] QString text(std::size_t step) const;
        /// "÷ 8.00", "−13.2 %"
        [[nodiscard]] QString relation(std::size_t step) const;
        /// relations are factors
        bool isFactor = false;
    };

    explicit AblationBars(QWidget *parent = nullptr);
    void setComparison(const ExpertComparison &comparison);
    [[nodiscard]] const std::vector<Measure> &measures() const { return m_measures; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    [[nodiscard]] int lineHeight() const;
    void paintMeasure(QPainter &painter, const Measure &measure, int top) const;

    std::vector<Measure> m_measures;
    std::array<QString, kExchangeSteps> m_names;
};

} // namespace trainyard
