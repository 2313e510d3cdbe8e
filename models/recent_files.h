#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans opened or saved last, newest first, remembered between starts in QSettings unless told not to. GUI thread.

#include <QObject>
#include <QStringList>

namespace trainyard {

class RecentFiles : public QObject {
    Q_OBJECT
public:
    static constexpr int kMost = 10;
    enum class Storage { Settings, None };
    explicit RecentFiles(Storage storage = Storage::Settings, QObject *parent = nullptr);

    [[nodiscard]] const QStringList &paths() const { return m_paths; }
    void add(const QString &path);
    void remove(const QString &path);
    void clear();

signals:
    void pathsChanged(const QStringList &paths);

private:
    void keep();

    Storage m_storage;
    QStringList m_paths;
};

} // namespace trainyard
