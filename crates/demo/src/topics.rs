//! Topics of the demo pages, with the words that distinguish them.

/// A topic with its words. Things are plural, so that one set of sentence patterns fits all.
pub(super) struct Topic {
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    pub(super) summary: &'static str,
    pub(super) things: &'static [&'static str],
    pub(super) actions: &'static [&'static str],
    pub(super) qualities: &'static [&'static str],
    pub(super) places: &'static [&'static str],
}

/// Builds topics from slug, title, summary, things, actions, qualities and places.
macro_rules! topics {
    ($($slug:literal, $title:literal, $summary:literal:
        [$($thing:literal)*] [$($action:literal)*] [$($quality:literal)*] [$($place:literal)*])*) => {
        &[$(Topic {
            slug: $slug,
            title: $title,
            summary: $summary,
            things: &[$($thing),*],
            actions: &[$($action),*],
            qualities: &[$($quality),*],
            places: &[$($place),*],
        }),*]
    };
}

/// The chapters of the manual, in order. Both versions have them.
pub(super) const CHAPTERS: &[Topic] = topics! {
    "mounting", "Mounting the mast", "How to raise a gauge mast and hold it upright.":
    ["bolts" "clamps" "brackets" "washers" "stays" "footplates" "shackles" "spacers"]
    ["tighten" "drill" "hoist" "fasten" "grease" "plumb"]
    ["crooked" "rusty" "galvanised" "wobbly" "upright"] ["pier" "scaffold" "bollard" "parapet"]

    "power", "Sun power and batteries", "Panels, cells and the wires between them.":
    ["batteries" "panels" "fuses" "cables" "regulators" "terminals" "electrodes" "switches"]
    ["charge" "rewire" "disconnect" "measure" "insulate" "discharge"]
    ["drained" "corroded" "swollen" "overheated" "polarised"] ["cellar" "junction" "cabinet" "rooftop"]

    "float", "The float and its well", "Why a float rides in a pipe, and how to keep it riding.":
    ["floats" "pulleys" "counterweights" "pipes" "inlets" "tapes" "sleeves" "filters"]
    ["flush" "balance" "unclog" "lower" "submerge" "rinse"]
    ["waterlogged" "silted" "buoyant" "leaky" "slimy"] ["well" "sluice" "culvert" "basin"]

    "clock", "Clocks and time signals", "Setting the time and never losing it again.":
    ["clocks" "pendulums" "springs" "dials" "escapements" "chimes" "gears" "chronometers"]
    ["wind" "synchronise" "regulate" "oil" "reset" "compare"]
    ["slow" "punctual" "stopped" "drifting" "magnetised"] ["observatory" "study" "belfry" "mantelpiece"]

    "radio", "The radio link", "Sending readings ashore without a wire.":
    ["antennas" "transmitters" "receivers" "frequencies" "packets" "repeaters" "crystals" "headphones"]
    ["tune" "transmit" "relay" "ground" "amplify" "decode"]
    ["noisy" "faint" "garbled" "licensed" "directional"] ["headland" "summit" "repeater" "skyline"]

    "lamps", "Signal lamps", "Colours, flashes and what they tell a skipper.":
    ["lamps" "lenses" "shutters" "wicks" "bulbs" "reflectors" "flashes" "lanterns"]
    ["light" "polish" "dim" "extinguish" "trim" "refill"]
    ["sooty" "dazzling" "crimson" "flickering" "cracked"] ["gallery" "breakwater" "turret" "fairway"]

    "recorder", "The chart recorder", "Ink, paper and the line that the sea draws.":
    ["charts" "pens" "drums" "inkwells" "rolls" "nibs" "curves" "spools"]
    ["unroll" "ink" "trace" "replace" "file" "blot"]
    ["smudged" "torn" "blank" "yellowed" "jagged"] ["archive" "drawer" "desk" "library"]

    "wind-vane", "Vane and cups", "Which way it blows and how hard.":
    ["vanes" "cups" "bearings" "gusts" "rotors" "arrows" "spindles" "squalls"]
    ["spin" "orient" "lubricate" "dismantle" "count" "average"]
    ["gusty" "becalmed" "northerly" "bent" "frictionless"] ["ridge" "gable" "steeple" "moor"]

    "rain", "The rain collector", "A funnel, a bucket and a little arithmetic.":
    ["funnels" "buckets" "droplets" "gutters" "siphons" "showers" "puddles" "sieves"]
    ["empty" "weigh" "drain" "cover" "strain" "tip"]
    ["dripping" "overflowing" "parched" "leafy" "drizzly"] ["lawn" "orchard" "terrace" "meadow"]

    "birds", "Keeping birds away", "Gulls love a gauge; this is how to part them kindly.":
    ["gulls" "nests" "spikes" "feathers" "cormorants" "eggs" "droppings" "scarecrows"]
    ["shoo" "protect" "relocate" "feed" "photograph" "startle"]
    ["stubborn" "protected" "hungry" "moulting" "screeching"] ["cliff" "rookery" "chimney" "dune"]

    "winter", "Winter care", "What frost does to a station, and what to do first.":
    ["icicles" "heaters" "pumps" "blankets" "snowdrifts" "shovels" "hoses" "crampons"]
    ["thaw" "wrap" "defrost" "clear" "salt" "store"]
    ["frozen" "brittle" "slippery" "snowbound" "lukewarm"] ["shed" "slipway" "driveway" "woodpile"]

    "calibration", "Calibration", "Making the gauge agree with the staff on the wall.":
    ["benchmarks" "staffs" "readings" "offsets" "millimetres" "errors" "tables" "surveys"]
    ["calibrate" "subtract" "average" "verify" "tabulate" "correct"]
    ["biased" "zeroed" "repeatable" "doubtful" "traceable"] ["datum" "quay" "triangle" "laboratory"]

    "alarms", "Storm alarms", "Whom to wake, and at what height of water.":
    ["sirens" "thresholds" "surges" "bells" "messages" "telephones" "flags" "warnings"]
    ["sound" "silence" "raise" "acknowledge" "rehearse" "escalate"]
    ["deafening" "false" "imminent" "muffled" "urgent"] ["village" "lifeboat" "floodgate" "townhall"]

    "visitors", "Showing visitors around", "A tour of one hour that nobody falls off.":
    ["guests" "children" "tickets" "railings" "questions" "postcards" "guides" "telescopes"]
    ["welcome" "greet" "count" "escort" "amuse" "admit"]
    ["curious" "punctilious" "seasick" "enthusiastic" "talkative"] ["staircase" "museum" "entrance" "balcony"]
};

/// Pages to which only duplicates link: a chapter that only the second version has, and two notes.
pub(super) const BEHIND_DUPLICATES: &[Topic] = topics! {
    "camera", "The quay camera", "New in this version: a picture of the water every minute.":
    ["cameras" "pictures" "shutters" "pixels" "housings" "wipers" "exposures" "tripods"]
    ["focus" "aim" "crop" "upload" "compress" "expose"]
    ["blurred" "overexposed" "panoramic" "foggy" "grainy"] ["jetty" "window" "horizon" "darkroom"]

    "lightning", "A correction on lightning", "The rod drawn in the first print was too short.":
    ["rods" "conductors" "thunderstorms" "sparks" "arresters" "electrodes" "insulators" "strikes"]
    ["earth" "bond" "lengthen" "inspect" "shield" "bury"]
    ["struck" "scorched" "conductive" "pointed" "thunderous"] ["spire" "trench" "bunker" "treetop"]

    "varnish", "A note on varnish", "Three coats, and why the second one matters.":
    ["coats" "brushes" "solvents" "boards" "blisters" "tins" "sandpapers" "fumes"]
    ["sand" "brush" "thin" "strip" "stir" "apply"]
    ["glossy" "sticky" "peeling" "weathered" "transparent"] ["workshop" "veranda" "boathouse" "loft"]
};

/// Threads of the forum, whose links carry a session ID.
pub(super) const THREADS: &[Topic] = topics! {
    "barnacles", "Barnacles again", "They come back every June; what do you all do?":
    ["barnacles" "mussels" "scrapers" "paints" "weeds" "limpets" "hulls" "divers"]
    ["scrape" "antifoul" "repaint" "pry" "soak" "collect"]
    ["encrusted" "poisonous" "tidal" "stinking" "shelly"] ["keel" "drydock" "reef" "mudflat"]

    "foghorn", "Foghorn out of breath", "Mine only wheezes since Tuesday.":
    ["horns" "compressors" "diaphragms" "valves" "blasts" "hoods" "gaskets" "echoes"]
    ["blow" "pressurise" "vent" "retune" "muffle" "reseal"]
    ["hoarse" "airtight" "booming" "wheezing" "shrill"] ["fogbank" "engine" "strait" "bay"]

    "rowing-boat", "Which rowing boat?", "The old tender has seen its last summer.":
    ["oars" "rowlocks" "thwarts" "planks" "tenders" "anchors" "ropes" "fenders"]
    ["row" "moor" "caulk" "bail" "launch" "steer"]
    ["seaworthy" "capsized" "clinker" "tarred" "unsinkable"] ["beach" "pond" "estuary" "marina"]

    "logbook", "Best logbook for wet hands", "Pencil, I know. But which paper?":
    ["pencils" "pages" "notebooks" "erasers" "covers" "entries" "margins" "signatures"]
    ["sharpen" "sign" "scribble" "copy" "bind" "index"]
    ["waterproof" "illegible" "ruled" "dogeared" "laminated"] ["pocket" "shelf" "stationer" "schoolroom"]

    "kettle", "Kettle for the night watch", "Something that boils in a gale.":
    ["kettles" "teabags" "stoves" "mugs" "biscuits" "matches" "thermoses" "lemons"]
    ["boil" "brew" "pour" "sip" "sweeten" "share"]
    ["piping" "stewed" "fragrant" "chipped" "sugary"] ["galley" "hearth" "pantry" "bunk"]
};

/// The German section.
pub(super) const GERMAN: &[Topic] = topics! {
    "aufbau", "Der Aufbau des Mastes", "Wie ein Pegelmast aufgestellt und gesichert wird.":
    ["Schrauben" "Klemmen" "Seile" "Platten" "Winkel" "Haken" "Ringe" "Keile"]
    ["anziehen" "bohren" "heben" "befestigen" "fetten" "ausrichten"]
    ["schief" "rostig" "verzinkt" "locker" "gerade"] ["Mole" "Kaimauer" "Treppe" "Leiter"]

    "lampen", "Die Signallampen", "Farben und Blinkzeichen für die Schifffahrt.":
    ["Lampen" "Linsen" "Blenden" "Dochte" "Spiegel" "Laternen" "Gläser" "Birnen"]
    ["putzen" "anzünden" "löschen" "auffüllen" "dämpfen" "abdecken"]
    ["rußig" "hell" "blendend" "trüb" "zerbrochen"] ["Galerie" "Hafeneinfahrt" "Insel" "Brücke"]

    "wetter", "Sturm und Warnung", "Wen man weckt, und bei welchem Wasserstand.":
    ["Sirenen" "Fluten" "Glocken" "Meldungen" "Böen" "Wellen" "Deiche" "Flaggen"]
    ["melden" "läuten" "beobachten" "auslösen" "üben" "wiederholen"]
    ["laut" "dringend" "falsch" "drohend" "gedämpft"] ["Gemeinde" "Wache" "Küste" "Schleuse"]

    "winter", "Der Winter auf der Station", "Was der Frost anrichtet und was zuerst zu tun ist.":
    ["Heizungen" "Pumpen" "Decken" "Schaufeln" "Schläuche" "Eiszapfen" "Fenster" "Rohre"]
    ["auftauen" "einpacken" "räumen" "streuen" "lagern" "entleeren"]
    ["gefroren" "glatt" "spröde" "eisig" "lauwarm"] ["Scheune" "Einfahrt" "Kammer" "Werkstatt"]
};
