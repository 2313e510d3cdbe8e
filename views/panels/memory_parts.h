#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of one GPU's memory as a table with a bar behind each, and the sum against the capacity. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <QWidget>

namespace trainyard {

class MemoryParts : public QWidget {
    Q_OBJECT
public:
    explicit MemoryParts(QWidget *parent = nullptr);
    /// capacity 0: nothing is known
    void setStage(StageMemory stage);
    void setDimmed(bool isDimmed);

    /// A part a line with its bytes.
    [[nodiscard]] QString toTsv() const;
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    struct Line {
        QString name;
        double bytes;
        bool isSum = false;
    };
    [[nodiscard]] std::vector<Line> lines() const;
    [[nodiscard]] int lineHeight() const { return fontMetrics().height() + 6; }

    StageMemory m_stage;
    bool m_isDimmed = false;
};

} // namespace trainyard
