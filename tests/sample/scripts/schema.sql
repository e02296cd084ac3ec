CREATE TABLE sightings (
    parcel TEXT NOT NULL,
    place TEXT NOT NULL,
    seen_at TIMESTAMP NOT NULL,
    PRIMARY KEY (parcel, seen_at)
);
