/** Where a parcel was seen last. */
export interface Sighting {
  parcel: string;
  place: string;
  seenAt: Date;
}

/** Polls the server until the parcel has arrived. */
export class ParcelTracker {
  constructor(private readonly server: string, private readonly everySeconds = 30) {}

  /** Fetches the latest sighting, or null while the parcel is only announced. */
  async latest(parcel: string): Promise<Sighting | null> {
    const reply = await fetch(`${this.server}/parcels/${parcel}/sightings?limit=1`);
    if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
    const [sighting] = (await reply.json()) as Sighting[];
    return sighting ?? null;
  }
}

export function describeSighting(sighting: Sighting): string {
  return `${sighting.parcel} was seen at ${sighting.place}`;
}
