#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the window has that can be gone to by name beside its commands, and going there: the map selects the datacenter
// or the link and Details tell of it, the timeline scrolls to the stage, Strategies open at the key. The palette asks
// for the names when somebody types. GUI thread; owned by the window.

#include "models/names/name_index.h"

#include <QObject>

#include <memory>
#include <string>

namespace trainyard {

class MainWindow;
struct MapItem;
struct Plan;

class GoTo : public QObject {
    Q_OBJECT
public:
    explicit GoTo(MainWindow &window);

    void addNames(NameIndex &index);
    /// False: it is not there any more.
    bool go(const NamedThing &thing);

private:
    bool goOnMap(const NamedThing &thing);
    bool goToRank(int rank);
    bool goToKey(const std::string &path);
    bool goToFile(const NamedThing &thing);
    bool goInMeeting(const NamedThing &thing);
    bool goToAlarm(const NamedThing &thing);
    bool showOnMap(const MapItem &item);

    MainWindow &m_window;
    /// of which names were given last: numbers of links are places in it
    std::shared_ptr<const Plan> m_named;
};

} // namespace trainyard
