#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The first line of the window: menus, the plan's name with its modified mark, and the few buttons that are always at
// hand. Everything it offers comes from the command registry. GUI thread.

#include <QWidget>

class QLabel;
class QMenu;
class QMenuBar;

namespace trainyard {

class CommandRegistry;

class TopBar : public QWidget {
    Q_OBJECT
public:
    explicit TopBar(CommandRegistry &registry, QWidget *parent = nullptr);

    void setTitle(const QString &name, bool isModified);
    /// Left of the buttons.
    void addBeforeButtons(QWidget *widget);
    /// Menus that the window fills itself: recent files and samples.
    [[nodiscard]] QMenu *recentMenu() const { return m_recent; }
    [[nodiscard]] QMenu *samplesMenu() const { return m_samples; }
    [[nodiscard]] QMenuBar *menuBar() const { return m_menus; }

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void fillMenus(CommandRegistry &registry);

    QMenuBar *m_menus;
    QMenu *m_recent, *m_samples;
    QLabel *m_title;
    QString m_text;
};

} // namespace trainyard
