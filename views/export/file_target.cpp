// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/file_target.h"

#include "core/base/output_file.h"
#include "models/text/foreign_text.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QUrl>
#include <QWidget>

namespace trainyard {

namespace {

const QString kKind = QStringLiteral("export");

} // namespace

FileTarget::FileTarget(Prompts &prompts, MessageBar &messages, QWidget *window)
    : QObject(window)
    , m_prompts(prompts)
    , m_messages(messages)
    , m_window(window)
    , m_folder([] { return QDir::homePath(); })
{
}

FileTarget::~FileTarget() = default;

FileTarget *FileTarget::of(QWidget *widget)
{
    for (QWidget *up = widget; up; up = up->parentWidget()) {
        if (auto *found = up->findChild<FileTarget *>(QString(), Qt::FindDirectChildrenOnly))
            return found;
    }
    return nullptr;
}

QString FileTarget::ask(const QString &title, const QString &fileName, const QString &suffix, const QString &filter)
{
    QString path = m_prompts.fileToSave(m_window, title, QDir(m_folder()).filePath(fileName), filter);
    if (!path.isEmpty() && !path.endsWith(suffix, Qt::CaseInsensitive))
        path += suffix;
    return path;
}

void FileTarget::write(const QString &what, const QString &path, std::function<Expected<void>(const QString &)> work,
    const QString &details)
{
    m_queue.run(
        this, [path, work = std::move(work)] { return work(path); },
        [this, what, path, details](const Expected<void> &result) {
            if (result)
                saySuccess(what, path, details);
            else
                sayFailure(tr("“%1” could not be written.").arg(fileText(path)),
                    QString::fromStdString(toString(result.error())));
        });
}

void FileTarget::write(const QString &what, const QString &path, const QByteArray &content, const QString &details)
{
    write(
        what, path,
        [content](const QString &to) {
            return writeOutputFile(
                to.toStdString(), [&](std::ostream &out) { out.write(content.constData(), content.size()); },
                OutputKinds::RegularOnly);
        },
        details);
}

void FileTarget::saySuccess(const QString &what, const QString &path, const QString &details)
{
    const auto show = [](const QString &place) {
        return [place] { QDesktopServices::openUrl(QUrl::fromLocalFile(place)); };
    };
    m_messages.show({ kKind, Message::Tone::Info, tr("%1 written to %2").arg(what, pathText(path)), details,
        { { tr("Open"), show(path) }, { tr("Open folder"), show(QFileInfo(path).absolutePath()) } } });
}

void FileTarget::sayFailure(const QString &headline, const QString &details)
{
    m_messages.show({ kKind, Message::Tone::Error, headline, details, {} });
}

} // namespace trainyard
