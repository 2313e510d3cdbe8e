#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All ranks of the job as small cells: recorded, missing (hatched), slow, and the one whose spans are shown. A click
// chooses a rank, a second one gives the choice back to the slowest. GUI thread.

#include "core/overlay/run_overlay.h"

#include <QWidget>

namespace trainyard {

class RankStrip : public QWidget {
    Q_OBJECT
public:
    explicit RankStrip(QWidget *parent = nullptr);

    void setOverlay(const RunOverlayPtr &overlay, std::optional<int> chosen);
    [[nodiscard]] int rankAt(QPoint position) const; // -1: none
    [[nodiscard]] QRect cellOf(int rank) const;
    [[nodiscard]] bool isMissing(int rank) const;

    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void rankChosen(std::optional<int> rank); // empty: the slowest

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    bool event(QEvent *event) override;

private:
    enum class State : std::uint8_t { Recorded, Missing, Slow };
    [[nodiscard]] int cellSize(int width) const;
    [[nodiscard]] int columns(int width) const;

    std::vector<State> m_states; // by rank
    std::optional<int> m_chosen;
};

} // namespace trainyard
