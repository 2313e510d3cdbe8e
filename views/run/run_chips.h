#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that were read, as chips in their colours: the legend of the charts that draw them. A click shows a run, its
// cross closes it; one that could not be read says so, and a click tries again. Out of sight while there is none but
// the one that is shown. GUI thread.

#include "models/loaded_runs.h"

#include <QWidget>

class QHBoxLayout;
class QToolButton;

namespace trainyard {

class RunChips : public QWidget {
    Q_OBJECT
public:
    explicit RunChips(LoadedRuns &runs, QWidget *parent = nullptr);

    /// nullptr: there is no such run
    [[nodiscard]] QToolButton *chip(const std::string &id) const;
    [[nodiscard]] QToolButton *cross(const std::string &id) const;

protected:
    void changeEvent(QEvent *event) override;

private:
    void fill();
    void add(const LoadedRun &run);

    LoadedRuns &m_runs;
    QHBoxLayout *m_row;
};

} // namespace trainyard
