#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where pictures and exports of a window go: one object of the window that asks for the file, writes it in the
// background and says what came of it. Panels find it upwards, so that a context menu needs no wire of its own. GUI
// thread.

#include "core/base/error.h"
#include "models/background_queue.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <functional>

class QWidget;

namespace trainyard {

class MessageBar;
class Prompts;

class FileTarget : public QObject {
    Q_OBJECT
public:
    FileTarget(Prompts &prompts, MessageBar &messages, QWidget *window);
    ~FileTarget() override;

    /// The one of the widget's window; nullptr where there is none.
    [[nodiscard]] static FileTarget *of(QWidget *widget);

    /// The folder that file names are suggested in, asked each time.
    void setFolder(std::function<QString()> folder) { m_folder = std::move(folder); }
    /// The path to write to, with the suffix; empty where the user thought better of it.
    [[nodiscard]] QString ask(
        const QString &title, const QString &fileName, const QString &suffix, const QString &filter);
    /// Runs `work` in the background and says "`what` written to …" or what went wrong.
    /// `details`: what is to be known of the file, said with its success.
    void write(const QString &what, const QString &path, std::function<Expected<void>(const QString &path)> work,
        const QString &details = {});
    void write(const QString &what, const QString &path, const QByteArray &content, const QString &details = {});
    void sayFailure(const QString &headline, const QString &details);

private:
    void saySuccess(const QString &what, const QString &path, const QString &details);

    Prompts &m_prompts;
    MessageBar &m_messages;
    QWidget *m_window;
    std::function<QString()> m_folder;
    /// last: its jobs use what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
