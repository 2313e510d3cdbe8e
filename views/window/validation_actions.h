#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the validation page cannot do alone: choosing and writing files, and putting the plan of a row on the workbench.
// GUI thread.

#include "models/background_queue.h"

#include <QObject>

class QWidget;

namespace trainyard {

class FileActions;
class MessageBar;
class Prompts;
class ValidationPage;

class ValidationActions : public QObject {
    Q_OBJECT
public:
    ValidationActions(
        ValidationPage &page, FileActions &files, Prompts &prompts, MessageBar &messages, QWidget *window);

private:
    void chooseRows();
    void saveCsv(const QString &csv);
    void savePicture();
    void showUnwritten(const QString &path);

    ValidationPage &m_page;
    FileActions &m_files;
    Prompts &m_prompts;
    MessageBar &m_messages;
    QWidget *m_window;
    /// last: its work uses what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
