// Crossref: the DOI registry of publishers. JSON; a contact address in the request puts it into the "polite pool".

import type { JsonObject } from '../../protocol/model.ts';
import { decodeText } from '../remote/markup.ts';
import { serviceErrors } from '../remote/service-error.ts';
import { normaliseDoi, type Paper } from './paper.ts';
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

const fields = 'DOI,title,author,issued,container-title,URL,abstract,is-referenced-by-count';

export class Crossref extends RemoteSource {
  readonly name = 'crossref';

  constructor(options: RemoteSourceOptions = {}) {
    super('https://api.crossref.org/works', options);
  }

  protected async ask({ text, limit, fromYear, toYear, sort, signal }: LiteratureQuery): Promise<readonly Paper[]> {
    const filters = [
      ...(fromYear === undefined ? [] : [`from-pub-date:${fromYear}`]),
      ...(toYear === undefined ? [] : [`until-pub-date:${toYear}`]),
    ];
    const url = this.address({
      query: text,
      rows: limit,
      select: fields,
      sort: sort === 'date' ? 'published' : 'relevance',
      order: 'desc',
      filter: filters.length === 0 ? undefined : filters.join(','),
      mailto: this.contact,
    });
    const answer = await this.service.json(url, this.init(['application/json'], signal));
    const items = recordOf(recordOf(answer)['message'])['items'];
    if (!Array.isArray(items)) throw serviceErrors.unreadable(this.name, 'it contains no list of works');
    return items.slice(0, limit).flatMap((item) => toPaper(recordOf(item)) ?? []);
  }
}

function toPaper(work: JsonObject): Paper | undefined {
  const title = textOf(listOf(work['title'])[0]);
  if (title === undefined) return undefined;
  const date = listOf(listOf(recordOf(work['issued'])['date-parts'])[0]);
  return {
    title: plain(title),
    authors: listOf(work['author']).flatMap((author) => nameOf(recordOf(author)) ?? []),
    ...maybe('year', numberOf(date[0])),
    ...maybe('doi', normaliseDoi(textOf(work['DOI']))),
    ...maybe('url', textOf(work['URL'])),
    ...maybe('venue', textOf(listOf(work['container-title'])[0])),
    ...maybe('abstract', plainOrNothing(textOf(work['abstract']))),
    ...maybe('citations', numberOf(work['is-referenced-by-count'])),
  };
}

/** Titles and abstracts are fragments of JATS, a dialect of XML. */
const plain = (text: string): string => decodeText(stripTags(text));
const plainOrNothing = (text: string | undefined): string | undefined => (text === undefined ? undefined : plain(text));

function nameOf({ given, family, name }: JsonObject): string | undefined {
  const parts = [textOf(given), textOf(family)].filter((part) => part !== undefined);
  return parts.length === 0 ? textOf(name) : parts.join(' ');
}
