#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The list of jobs: a chip in the job's colour, the cells that can be typed into, the time in which it runs as a bar.
// Rows are dragged to another place in it, and out of it to GPUs. Columns leave from the right where there is no room.
// Keys: F2 or Enter types into a cell, Space pauses and resumes, Alt+Up and Alt+Down move, Delete removes. GUI thread.

#include <QTableView>

#include <vector>

namespace trainyard {

class JobListModel;

class JobList : public QTableView {
    Q_OBJECT
public:
    explicit JobList(JobListModel &model, QWidget *parent = nullptr);

    /// Rows that are selected, ascending; the current one where none is.
    [[nodiscard]] std::vector<int> chosen() const;
    /// Selects and shows a row, without telling that somebody picked it.
    void choose(int row);
    void setDimmed(bool isDimmed);
    [[nodiscard]] bool isDimmed() const { return m_isDimmed; }
    [[nodiscard]] bool isEditing() const { return state() == EditingState; }
    /// So many rows are seen without scrolling, if there are as many.
    void fitHeight(int rows);

signals:
    void chosenChanged();
    /// by a hand or a key; -1: several, or none any more (Esc)
    void picked(int row);
    void pauseAsked();
    void removeAsked();
    /// -1 up, 1 down
    void moveAsked(int by);
    /// a double click on what cannot be typed into
    void detailsAsked();
    void menuAsked(QPoint globalPos);

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void startDrag(Qt::DropActions actions) override;
    void changeEvent(QEvent *event) override;

private:
    void showColumns();
    void tellPicked();

    JobListModel &m_model;
    bool m_isDimmed = false;
    /// by the program
    bool m_isChoosing = false;
};

} // namespace trainyard
