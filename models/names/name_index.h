#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that one can go to by name, and the search in it. Things that differ by a number alone (ranks, nodes,
// GPUs) are kept as one entry with how many there are, so that an index of a hundred thousand ranks is made in no time:
// the number is read from what is typed. An index is a value of the moment; whoever shows it makes it when it is asked
// for. Any thread.
//
//   NameIndex index;
//   index.add({ .kind = ThingKind::Datacenter, .group = "Datacenter", .name = "Oregon", .id = "oregon" });
//   index.add({ .kind = ThingKind::Rank, .group = "Rank", .name = "Rank %1", .count = 4096 });
//   index.find("rank 12", 50).things.front().name;   // "Rank 12"

#include "models/names/name_match.h"

#include <QString>

#include <functional>
#include <vector>

namespace trainyard {

/// In the order in which things that fit equally well are listed.
enum class ThingKind {
    Command,
    Variant,
    Datacenter,
    Link,
    Stage,
    Key,
    Arrangement,
    Pool,
    Job,
    Node,
    Gpu,
    Rank,
    Model,
    Sample,
    RecentFile,
    Decision,
    Edit,
    Alarm,
};

struct NamedThing {
    ThingKind kind = ThingKind::Command;
    /// "Link": shown, and found
    QString group;
    /// "Oregon – Virginia"
    QString name;
    /// "60 ms · 400 Gbps": shown only
    QString detail;
    /// further words by which it is found: "parallelism.tensor"
    QString alias;
    /// of the command, the datacenter, the key, the file, the variant …
    QString id;
    /// rank, node, stage … from 0, or place in its list; -1: none
    int number = -1;
    bool operator==(const NamedThing &) const = default;
};

/// `count` things that differ by a number, from 0; what is shown and typed is `first` more.
struct NumberedThings {
    ThingKind kind = ThingKind::Rank;
    QString group;
    /// "Rank %1"
    QString name;
    QString alias;
    QString id;
    int count = 0;
    int first = 0;
    /// of a number from 0; may be empty
    std::function<QString(int)> detail;
};

struct FoundThings {
    /// best first
    std::vector<NamedThing> things;
    /// that fit as well and are left out
    int more = 0;
};

class NameIndex {
public:
    void clear();
    void add(NamedThing thing);
    void add(NumberedThings things);
    [[nodiscard]] std::size_t size() const { return m_things.size() + m_numbered.size(); }

    /// Those that fit, at most `most`. Nothing typed: all commands, in the order in which they came. Where few words
    /// fit, names follow of whose words these are the beginnings, run together ("zi", "zoin": Zoom in).
    [[nodiscard]] FoundThings find(const QString &typed, int most) const;

private:
    struct Entry {
        NamedThing thing;
        FoldedName text;
    };
    struct Family {
        NumberedThings things;
        FoldedName text;
    };
    struct Hit;
    void findWords(const NameWords &words, int most, std::vector<Hit> &hits, int &more) const;
    void findNumbered(const NameWords &words, int most, std::vector<Hit> &hits, int &more) const;
    void findBeginnings(const QString &typed, std::vector<Hit> &hits) const;
    [[nodiscard]] NamedThing thingOf(const Hit &hit) const;

    std::vector<Entry> m_things;
    std::vector<Family> m_numbered;
};

} // namespace trainyard
