#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Type a few letters, press Enter: goes to anything that has a name. Enabled commands are run; what else there is, and
// what going there means, its owner says. Other names are asked for when the first letter is typed, never before. Lies
// over the window, not a window of its own. GUI thread.

#include "models/names/name_index.h"

#include <QFrame>

class QLineEdit;
class QListWidget;

namespace trainyard {

class CommandRegistry;

class CommandPalette : public QFrame {
    Q_OBJECT
public:
    CommandPalette(CommandRegistry &registry, QWidget *window);

    void open();
    /// Asked once each time that somebody types into it.
    void setNames(std::function<void(NameIndex &)> names) { m_names = std::move(names); }

signals:
    /// no command: those are run
    void chosen(const trainyard::NamedThing &thing);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void search(const QString &pattern);
    void runCurrent();
    void dismiss();

    void addCommands();
    void showFound(const QString &pattern, FoundThings found);
    void addNote(const QString &text);

    CommandRegistry &m_registry;
    std::function<void(NameIndex &)> m_names;
    NameIndex m_index;
    /// m_index has more than commands
    bool m_hasNames = false;
    /// beside the rows of the list
    std::vector<NamedThing> m_found;
    QLineEdit *m_field;
    QListWidget *m_list;
    QWidget *m_focusBefore = nullptr;
};

} // namespace trainyard
