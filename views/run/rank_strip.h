#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All ranks of the job as small cells: recorded, missing (hatched), slow, and the one whose spans are shown. Where most
// of many are missing, those recorded alone. A click chooses a rank, a second one gives the choice back to the slowest.
// GUI thread.

#include "core/runs/overlay/run_overlay.h"

#include <QWidget>

namespace trainyard {

class RankStrip : public QWidget {
    Q_OBJECT
public:
    explicit RankStrip(QWidget *parent = nullptr);

    void setOverlay(const RunOverlayPtr &overlay, std::optional<int> chosen);
    [[nodiscard]] std::size_t cells() const { return m_cells.size(); }
    /// of one that has a cell
    [[nodiscard]] QRect cellOf(int rank) const;
    /// or has no cell
    [[nodiscard]] bool isMissing(int rank) const;

    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    /// empty: the slowest
    void rankChosen(std::optional<int> rank);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    bool event(QEvent *event) override;

private:
    enum class State : std::uint8_t { Recorded, Missing, Slow };
    struct Cell {
        int rank = 0;
        State state = State::Recorded;
    };
    [[nodiscard]] QRect placeOf(int cell) const;
    /// nullptr: none
    [[nodiscard]] const Cell *cellAt(QPoint position) const;
    [[nodiscard]] int cellSize(int width) const;
    [[nodiscard]] int columns(int width) const;

    /// by rank, ascending
    std::vector<Cell> m_cells;
    std::optional<int> m_chosen;
};

} // namespace trainyard
