#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything the window can be told to do, in one place: menus, toolbar, command palette, shortcut overlay and the
// shortcuts themselves are made from it. GUI thread; owned by the window.

#include <QAction>
#include <QKeySequence>
#include <QObject>
#include <QWidget>

#include <functional>
#include <vector>

namespace trainyard {

struct Command {
    /// "file.open"
    QString id;
    /// heading in palette and overlay: "File"
    QString group;
    /// "Open…"
    QString text;
    /// bound in the whole window
    QList<QKeySequence> shortcuts;
    /// keys that a view handles itself where it has the focus: shown, not bound
    QString keyHint;
    /// name in resources/icons; may be empty
    QString icon;
    /// may be empty: a gesture that only the overlay tells of
    std::function<void()> run;
    /// empty: always
    std::function<bool()> isEnabled;
    /// empty: not a choice
    std::function<bool()> isChecked;
    /// text of the moment: "Undo Move 8 GPUs"; empty: `text`
    std::function<QString()> describe;
};

class CommandRegistry : public QObject {
    Q_OBJECT
public:
    explicit CommandRegistry(QWidget *window);

    void add(Command command);
    [[nodiscard]] const std::vector<Command> &commands() const { return m_commands; }
    /// nullptr where unknown or without `run`
    [[nodiscard]] QAction *action(const QString &id) const;
    /// Runs a command if it is enabled; false otherwise.
    bool trigger(const QString &id);
    /// Asks the predicates again. Call it when what they read has changed.
    void refresh();
    /// Inks the icons anew.
    void refreshIcons();

signals:
    void refreshed();

private:
    /// Text and keys of a command with `run`.
    void showTip(std::size_t at);

    QWidget *m_window;
    std::vector<Command> m_commands;
    /// beside m_commands; nullptr where there is no `run`
    std::vector<QAction *> m_actions;
};

/// Keys as shown to people: the shortcuts and the hint, "Ctrl+Shift+P", "W".
[[nodiscard]] QString keysOf(const Command &command);

} // namespace trainyard
