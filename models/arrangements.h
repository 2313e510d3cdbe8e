#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Named arrangements of the window's panels: those that come with the product, and a user's own, remembered between
// starts in QSettings. An arrangement says how the room is shared and which tabs are in front; what it hides can always
// be shown again. GUI thread.

#include <QObject>
#include <QString>

#include <array>
#include <optional>
#include <vector>

class QJsonObject;

namespace trainyard {

/// Shares of the room, 0..1; 0: hidden.
struct Arrangement {
    /// of the window's width; the rest is the right column's
    double left = 0.68;
    /// of the left column's height: map, timeline, charts
    std::array<double, 3> rows { 0.37, 0.41, 0.22 };
    /// of the right column's height; both 0: it is hidden
    std::array<double, 2> sides { 0.6, 0.4 };
    /// tabs in front: "strategies", "why"
    QString upper, lower;
    bool operator==(const Arrangement &) const = default;
};

[[nodiscard]] QJsonObject toJson(const Arrangement &arrangement);
/// Empty where it is none, or would show nothing at all.
[[nodiscard]] std::optional<Arrangement> arrangementFrom(const QJsonObject &json);

struct NamedArrangement {
    /// of those of the product: "design"; empty: a user's own
    QString id;
    QString name;
    Arrangement value;
};
/// Design, Analyse, Run, Present.
[[nodiscard]] const std::vector<NamedArrangement> &builtInArrangements();

class ArrangementStore : public QObject {
    Q_OBJECT
public:
    explicit ArrangementStore(QObject *parent = nullptr);

    /// The user's, in the order in which they were saved first.
    [[nodiscard]] const std::vector<NamedArrangement> &own() const { return m_own; }
    /// In place of the user's one of that name; a name of the product's gets a number. Returns the name that it has;
    /// empty: none was given.
    QString save(const QString &name, const Arrangement &arrangement);
    /// False where the name is empty or another has it.
    bool rename(std::size_t index, const QString &name);
    void remove(std::size_t index);
    /// What was removed last, at its place.
    void restoreRemoved();
    [[nodiscard]] bool canRestore() const { return m_removed.has_value(); }
    /// Of the product or the user's; null: there is none.
    [[nodiscard]] const NamedArrangement *find(const QString &name) const;

signals:
    void renamed(const QString &before, const QString &after);
    void changed();

private:
    void keep();

    std::vector<NamedArrangement> m_own;
    std::optional<std::pair<std::size_t, NamedArrangement>> m_removed;
};

} // namespace trainyard
