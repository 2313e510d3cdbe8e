#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One iteration as a stacked bar, with a legend that wraps: where each second goes. GUI thread.

#include "core/evaluate/evaluation.h"

#include <QColor>
#include <QString>
#include <QWidget>

#include <vector>

namespace trainyard {

class BreakdownBar : public QWidget {
    Q_OBJECT
public:
    struct Part {
        QString name, meaning;
        QString where;             // in the timeline
        bool isInSpans = false;
        double seconds = 0;
        QColor (*color)();
    };

    explicit BreakdownBar(QWidget *parent = nullptr);
    void setBreakdown(const std::optional<Breakdown> &breakdown);
    void setDimmed(bool dimmed);
    [[nodiscard]] const std::vector<Part> &parts() const { return m_parts; }   // none of zero length
    [[nodiscard]] QString toTsv() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    struct Label { QRect rect; const Part *part; };
    [[nodiscard]] std::vector<Label> legend(int width) const;
    [[nodiscard]] std::vector<QRect> segments() const;
    [[nodiscard]] const Part *partAt(QPoint position) const;

    std::vector<Part> m_parts;
    std::vector<int> m_labelWidths;        // of the legend, beside m_parts
    bool m_dimmed = false;
};

} // namespace trainyard
