#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A list of bars: a name, how far it reaches with a tick where it could at best, its value and what that is beside
// another. For what jobs take under variants of the plan. GUI thread.

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace trainyard {

struct VariantBar {
    /// note: in the tooltip, and beside the name where there is no value
    QString name, note;
    /// length of the bar; empty: not known
    std::optional<double> value;
    /// a tick
    std::optional<double> ideal;
    /// "18.0 s", "÷ 1.58"
    QString text, relation;
    /// the plan as it is
    bool isOwn = false;
    bool operator==(const VariantBar &) const = default;
};

class VariantBars : public QWidget {
    Q_OBJECT
public:
    /// of the bars; above where they are sentences
    enum class Names { Beside, Above };
    explicit VariantBars(Names names = Names::Beside, QWidget *parent = nullptr);
    void setBars(std::vector<VariantBar> bars);
    [[nodiscard]] const std::vector<VariantBar> &bars() const { return m_bars; }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return { 200, sizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    [[nodiscard]] int lineHeight() const;
    Names m_names;
    std::vector<VariantBar> m_bars;
};

} // namespace trainyard
