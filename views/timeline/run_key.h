#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The key of a run that lies under the plan, in the timeline's legend: a switch that shows or hides its rows, with the
// colours of what they have. GUI thread.

#include <QAbstractButton>

#include <cstdint>

namespace trainyard {

class RunKey : public QAbstractButton {
    Q_OBJECT
public:
    explicit RunKey(QWidget *parent);

    /// bits by RecordedWork
    void setWorks(std::uint32_t works);
    /// With the names of the work, or only with that of the run.
    void setNamed(bool named);
    /// with names
    [[nodiscard]] int fullWidth() const;
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void nextCheckState() override { } // whoever owns the rows says what is shown

private:
    [[nodiscard]] int widthOf(bool named) const;

    std::uint32_t m_works = 0;
    bool m_isNamed = true;
    /// only where the keyboard brought it
    bool m_showsFocus = false;
};

} // namespace trainyard
