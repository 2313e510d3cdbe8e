#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One iteration as a stacked bar, with a legend that wraps: where each second goes. A click on either chooses a part,
// whose seconds the timeline then points at. GUI thread.

#include "core/evaluation/evaluate/metrics/breakdown_entries.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace trainyard {

class PartButton;

class BreakdownBar : public QWidget {
    Q_OBJECT
public:
    struct Part {
        QString name, meaning;
        /// in the timeline
        QString where;
        bool isInSpans = false;
        double seconds = 0;
        /// several: those too small to be listed
        std::vector<BreakdownPart> parts;
    };

    explicit BreakdownBar(QWidget *parent = nullptr);
    /// `ofExperts`: what there is to say of the exchange with experts, beside its meaning.
    void setBreakdown(const std::optional<Breakdown> &breakdown, const QString &ofExperts = {});
    void setDimmed(bool dimmed);
    /// What the timeline points at.
    void setChosen(std::vector<BreakdownPart> parts);
    [[nodiscard]] const std::vector<BreakdownPart> &chosen() const { return m_chosen; }
    [[nodiscard]] const std::vector<Part> &parts() const { return m_parts; } // none of zero length
    [[nodiscard]] QString toTsv() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

Q_SIGNALS:
    /// none: no longer
    void partsChosen(const std::vector<trainyard::BreakdownPart> &parts);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    bool event(QEvent *event) override;

private:
    void choose(const std::vector<BreakdownPart> &parts);
    void showChosen();
    void arrange();
    [[nodiscard]] bool isChosen(const Part &part) const;
    /// of the legend's buttons
    [[nodiscard]] std::vector<QRect> places(int width) const;
    [[nodiscard]] std::vector<QRect> segments() const;
    [[nodiscard]] const Part *partAt(QPoint position) const;

    std::vector<Part> m_parts;
    /// of the legend, beside m_parts; hidden ones wait for more parts
    std::vector<PartButton *> m_buttons;
    std::vector<BreakdownPart> m_chosen;
    bool m_dimmed = false;
};

} // namespace trainyard
