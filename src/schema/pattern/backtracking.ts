// How long the platform's RegExp, which backtracks, can take on a text of n characters: an upper bound, from the
// pattern only. Every attempt of a backtracking matcher is a path through the position automaton of the pattern
// (positions.ts), so counting paths counts attempts. Where no bound is found the answer is "none", never a guess.
import { type Edge, type Position, positionsOf } from './positions.ts';
import type { Syntax } from './syntax.ts';

/** Pairs of steps that are compared; a pattern with more is not worth the time this takes. */
const maxComparisons = 5_000;

/** For a text of so many characters: how many steps a search takes at most. */
export type StepBound = (length: number) => number;

/** The bound for a pattern; undefined where there is none. */
export function boundSteps(syntax: Syntax): StepBound | undefined {
  const positions = positionsOf(syntax);
  const stations = positions === undefined ? undefined : toStations(positions);
  return stations === undefined ? undefined : (length) => countSteps(stations, length + 1);
}

/** A position, or all the positions of one loop. */
interface Station {
  readonly isLoop: boolean;
  /** What one visit costs: every step that is tried from there. */
  cost: number;
  /** The steps that one visit may take, one list per position. Of a list only steps with a character in common are
   * taken for the same text. */
  readonly leaving: (readonly Exit[])[];
  /** The same, where leaving excludes staying: so often it happens only once, however long the loop. */
  readonly leavingOnce: (readonly Exit[])[];
  /** Steps into lookarounds: taken with every visit. */
  readonly looking: (readonly Exit[])[];
}

interface Exit {
  readonly to: number;
  readonly ways: number;
  /** Those of the same list that share a character with it, itself included. */
  readonly alike: readonly number[];
}

/** From right to left, and lookarounds before what looks into them: each station only leads to earlier ones. */
function toStations(positions: readonly Position[]): readonly Station[] | undefined {
  const order = positions
    .map((_, index) => index)
    .sort((a, b) => at(positions, b).body - at(positions, a).body || b - a);
  const stations: Station[] = [];
  const stationOf = new Map<number, number>();
  const loops = new Map<number, number>();
  for (const index of order) {
    const { loop } = at(positions, index);
    const known = loop === undefined ? undefined : loops.get(loop);
    const station = known ?? stations.push(newStation(loop !== undefined)) - 1;
    stationOf.set(index, station);
    if (loop !== undefined) loops.set(loop, station);
  }
  let comparisons = 0;
  const exits = (edges: readonly Edge[]): readonly Exit[] => {
    comparisons += edges.length ** 2;
    if (comparisons > maxComparisons) return [];
    const overlap = (a: Edge, b: Edge): boolean => at(positions, a.to).set.overlaps(at(positions, b.to).set);
    return edges.map((edge) => ({
      to: stationOf.get(edge.to) as number,
      ways: edge.ways,
      alike: edges.flatMap((other, place) => (other === edge || overlap(edge, other) ? [place] : [])),
    }));
  };
  for (const index of order) {
    const { next, loop, body, ends } = at(positions, index);
    const station = stations[stationOf.get(index) as number] as Station;
    const looking = next.filter(({ to }) => at(positions, to).body !== body);
    const staying = next.filter(({ to }) => loop !== undefined && at(positions, to).loop === loop);
    const leaving = next.filter((edge) => !looking.includes(edge) && !staying.includes(edge));
    // Two alternatives within a loop double with every iteration.
    const within = exits(staying);
    if (within.some(({ ways, alike }) => ways > 1 || alike.length > 1)) return undefined;
    const couldStay = ({ to }: Edge): boolean =>
      staying.some((edge) => at(positions, edge.to).set.overlaps(at(positions, to).set));
    comparisons += staying.length * leaving.length;
    if (comparisons > maxComparisons) return undefined;
    station.cost = Math.max(
      station.cost,
      next.reduce((sum, { ways }) => sum + ways, 1 + ends),
    );
    station.leaving.push(exits(station.isLoop ? leaving.filter(couldStay) : leaving));
    station.leavingOnce.push(exits(station.isLoop ? leaving.filter((edge) => !couldStay(edge)) : []));
    station.looking.push(exits(looking));
  }
  return comparisons > maxComparisons ? undefined : stations;
}

function newStation(isLoop: boolean): Station {
  return { isLoop, cost: 0, leaving: [], leavingOnce: [], looking: [] };
}

/** Steps after entering each station once, from the last one to the first. */
function countSteps(stations: readonly Station[], length: number): number {
  const totals = new Float64Array(stations.length);
  const heaviest = (lists: readonly (readonly Exit[])[]): number => {
    let most = 0;
    for (const list of lists) {
      const weight = ({ to, ways }: Exit): number => ways * (totals[to] as number);
      for (const { alike } of list) {
        let sum = 0;
        for (const place of alike) sum += weight(list[place] as Exit);
        most = Math.max(most, sum);
      }
    }
    return most;
  };
  const all = (lists: readonly (readonly Exit[])[]): number =>
    Math.max(0, ...lists.map((list) => list.reduce((sum, { to, ways }) => sum + ways * (totals[to] as number), 0)));
  stations.forEach(({ isLoop, cost, leaving, leavingOnce, looking }, index) => {
    // A loop here has one way to continue, so each entry visits every character at most once.
    const visits = isLoop ? length : 1;
    totals[index] = visits * (cost + heaviest(leaving) + all(looking)) + heaviest(leavingOnce);
  });
  return totals.at(-1) ?? 0;
}

function at(positions: readonly Position[], index: number): Position {
  return positions[index] as Position;
}
