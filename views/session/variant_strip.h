#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The variants of a meeting in one line above the panels: a chip each with its colour, name and time, the one that is
// shown pressed. A click or Alt+PgUp and Alt+PgDown go from one to the other. Nothing where there is only one. GUI
// thread.

#include <QWidget>

#include <string>
#include <vector>

class QHBoxLayout;
class QScrollArea;
class QToolButton;

namespace trainyard {

class SessionDocument;
class VariantFigures;

class VariantStrip : public QWidget {
    Q_OBJECT
public:
    VariantStrip(SessionDocument &session, VariantFigures &figures, QWidget *parent = nullptr);

    QToolButton *const branch, *const board;
    /// Of a variant; null where it has none.
    [[nodiscard]] QToolButton *chip(const std::string &id) const;

Q_SIGNALS:
    void branchRequested();
    void boardRequested();

protected:
    void changeEvent(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void fill();
    void refresh();
    void reveal();

    SessionDocument &m_session;
    VariantFigures &m_figures;
    QHBoxLayout *m_chips;
    /// more chips than fit scroll; that of the current one is in sight
    QScrollArea *m_area;
    std::vector<std::string> m_ids;
    std::vector<QToolButton *> m_buttons;
};

} // namespace trainyard
