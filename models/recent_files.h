#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans opened or saved last, newest first, remembered between starts in QSettings. GUI thread.

#include <QObject>
#include <QStringList>

namespace trainyard {

class RecentFiles : public QObject {
    Q_OBJECT
public:
    static constexpr int kMost = 10;
    explicit RecentFiles(QObject *parent = nullptr);

    [[nodiscard]] const QStringList &paths() const { return m_paths; }
    void add(const QString &path);
    void remove(const QString &path);
    void clear();

signals:
    void pathsChanged(const QStringList &paths);

private:
    void keep();

    QStringList m_paths;
};

} // namespace trainyard
