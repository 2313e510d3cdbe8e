// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace trainyard {

namespace {
const QString kKey = QStringLiteral("recentFiles");
}

RecentFiles::RecentFiles(Storage storage, QObject *parent)
    : QObject(parent)
    , m_storage(storage)
{
    if (m_storage == Storage::Settings)
        m_paths = QSettings().value(kKey).toStringList();
}

void RecentFiles::add(const QString &path)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    m_paths.removeAll(absolute);
    m_paths.prepend(absolute);
    if (m_paths.size() > kMost)
        m_paths.resize(kMost);
    keep();
}

void RecentFiles::remove(const QString &path)
{
    if (m_paths.removeAll(QFileInfo(path).absoluteFilePath()) > 0)
        keep();
}

void RecentFiles::clear()
{
    m_paths.clear();
    keep();
}

void RecentFiles::keep()
{
    if (m_storage == Storage::Settings)
        QSettings().setValue(kKey, m_paths);
    emit pathsChanged(m_paths);
}

} // namespace trainyard
