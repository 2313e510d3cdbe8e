// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/validation_actions.h"

#include "core/base/output_file.h"
#include "models/text/foreign_text.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"
#include "views/plots/plot_style.h"
#include "views/validation/scatter_card.h"
#include "views/validation/scatter_plot.h"
#include "views/validation/validation_page.h"
#include "views/window/file_actions.h"

#include <QDir>

namespace trainyard {

namespace {

const QString kKind = QStringLiteral("save");

bool write(const QString &path, const QByteArray &content)
{
    return writeOutputFile(
        path.toStdString(), [&](std::ostream &out) { out.write(content.constData(), content.size()); },
        OutputKinds::RegularOnly)
        .has_value();
}

} // namespace

ValidationActions::ValidationActions(
    ValidationPage &page, FileActions &files, Prompts &prompts, MessageBar &messages, QWidget *window)
    : QObject(window)
    , m_page(page)
    , m_files(files)
    , m_prompts(prompts)
    , m_messages(messages)
    , m_window(window)
{
    connect(&page, &ValidationPage::fileWanted, this, &ValidationActions::chooseRows);
    connect(&page, &ValidationPage::csvWanted, this, &ValidationActions::saveCsv);
    connect(&page, &ValidationPage::pictureWanted, this, &ValidationActions::savePicture);
    connect(&page, &ValidationPage::planChosen, &files, &FileActions::startWith);
}

void ValidationActions::chooseRows()
{
    if (const QString path = m_prompts.rowsToOpen(m_window, m_files.folder()); !path.isEmpty())
        m_page.run(path);
}

void ValidationActions::saveCsv(const QString &csv)
{
    const QString path =
        m_prompts.csvToSave(m_window, QDir(m_files.folder()).filePath(QStringLiteral("validation.csv")));
    if (path.isEmpty())
        return;
    m_queue.run(
        this, [path, content = csv.toUtf8()] { return write(path, content); },
        [this, path](bool isWritten) {
            if (!isWritten)
                showUnwritten(path);
            else
                m_messages.dismiss(kKind);
        });
}

void ValidationActions::savePicture()
{
    const QString path =
        m_prompts.pictureToSave(m_window, QDir(m_files.folder()).filePath(QStringLiteral("validation.png")));
    if (!path.isEmpty() && !saveChart(m_page.scatter->plot->chart(), path))
        showUnwritten(path);
}

void ValidationActions::showUnwritten(const QString &path)
{
    m_messages.show({ kKind, Message::Tone::Error, tr("“%1” could not be written.").arg(fileText(path)), {}, {} });
}

} // namespace trainyard
