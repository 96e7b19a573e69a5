// OpenAlex: an open catalogue of works of all kinds. JSON; abstracts come as an index of words, because publishers own
// the texts.

import type { JsonObject } from '../../protocol/model.ts';
import { serviceErrors } from '../remote/service-error.ts';
import { normaliseArxivId, normaliseDoi, type Paper } from './paper.ts';
import {
  listOf,
  maybe,
  numberOf,
  RemoteSource,
  type RemoteSourceOptions,
  recordOf,
  stripTags,
  textOf,
} from './remote-source.ts';
import type { LiteratureQuery } from './source.ts';

/** A longer text is not an abstract. */
const maxAbstractWords = 2000;
/** A word can be repeated at each place: stops a long one from becoming a text of gigabytes. */
const maxWordChars = 100;

export class OpenAlex extends RemoteSource {
  readonly name = 'openalex';

  constructor(options: RemoteSourceOptions = {}) {
    super('https://api.openalex.org/works', options);
  }

  protected async ask({ text, limit, fromYear, toYear, sort, signal }: LiteratureQuery): Promise<readonly Paper[]> {
    const filters = [
      ...(fromYear === undefined ? [] : [`from_publication_date:${fromYear}-01-01`]),
      ...(toYear === undefined ? [] : [`to_publication_date:${toYear}-12-31`]),
    ];
    const url = this.address({
      search: text,
      'per-page': limit,
      sort: sort === 'date' ? 'publication_date:desc' : undefined,
      filter: filters.length === 0 ? undefined : filters.join(','),
      mailto: this.contact,
    });
    const answer = await this.service.json(url, this.init(['application/json'], signal));
    const results = recordOf(answer)['results'];
    if (!Array.isArray(results)) throw serviceErrors.unreadable(this.name, 'it contains no list of works');
    return results.slice(0, limit).flatMap((work) => toPaper(recordOf(work)) ?? []);
  }
}

function toPaper(work: JsonObject): Paper | undefined {
  const title = textOf(work['title']) ?? textOf(work['display_name']);
  if (title === undefined) return undefined;
  const place = recordOf(work['primary_location']);
  const landing = textOf(place['landing_page_url']);
  const authors = listOf(work['authorships']).flatMap(
    (each) => textOf(recordOf(recordOf(each)['author'])['display_name']) ?? [],
  );
  return {
    title: stripTags(title),
    authors,
    ...maybe('year', numberOf(work['publication_year'])),
    ...maybe('doi', normaliseDoi(textOf(work['doi']))),
    ...maybe(
      'arxivId',
      landing?.includes('arxiv.org/') === true ? normaliseArxivId(landing.split('/').at(-1)) : undefined,
    ),
    ...maybe('url', textOf(work['doi']) ?? landing ?? textOf(work['id'])),
    ...maybe('pdf', textOf(recordOf(work['open_access'])['oa_url'])),
    ...maybe('venue', textOf(recordOf(place['source'])['display_name'])),
    ...maybe('abstract', readAbstract(work['abstract_inverted_index'])),
    ...maybe('citations', numberOf(work['cited_by_count'])),
  };
}

/** `{ "Deep": [0], "learning": [1, 7] }` back to a text. */
function readAbstract(index: unknown): string | undefined {
  const words: string[] = [];
  for (const [word, places] of Object.entries(recordOf(index))) {
    for (const place of listOf(places)) {
      if (Number.isInteger(place) && (place as number) >= 0 && (place as number) < maxAbstractWords) {
        words[place as number] = word.slice(0, maxWordChars);
      }
    }
  }
  const text = words.filter((word) => word !== undefined).join(' ');
  return text === '' ? undefined : text;
}
