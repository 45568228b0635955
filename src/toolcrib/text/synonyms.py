"""English words that say much the same, so that a question may use others than its page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from toolcrib.text.bm25 import terms

_WORDS = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
MAX_PHRASE_WORDS = 3
# Words that say much the same, a group a line; _ stands in phrases.
_TABLE = """\
company business firm enterprise corporation organisation organization cooperative
founded started established created set_up launched began begun opened inception origin
owner own owned proprietor belongs possess
write written wrote author writer by_whom
lead led leader head charge manage director boss chief in_charge run
price cost fee charge fare rate expensive cheap pay payment paid ticket
refund reimburse reimbursed money_back paid_back repay compensation compensate
cancel cancelled canceled called_off call_off dropped abandon
free gratis complimentary without_charge no_cost
trip journey crossing travel ride voyage route passage
duration long take takes lasts last time minutes hours
car automobile vehicle auto motor
bicycle bike cycle
boat ship vessel ferry
plane aircraft airplane flight
train railway rail
book booked reserve reservation booking reserved appointment
child children kid kids minor youngster
adult grown-up grownup grown
people person persons passenger passengers visitor visitors traveller guest human
pupil pupils student students school schoolchild
dog dogs puppy pet pets animal animals hound
leash lead
luggage suitcase suitcases baggage bag bags pieces
phone telephone call number
storm wind gale weather tempest
stranded stuck
sleep overnight night accommodation bed stay
disabled wheelchair accessible accessibility handicap handicapped disability barrier-free
lift elevator
electric electricity battery power powered current
largest biggest greatest most maximum max larger highest
smallest least minimum min lowest fewest
capacity takes carries holds seats room
lost forgot forgotten left_behind missing found lose vanish
pick_up collect collected retrieve kept recover
police officer
allowed may permitted can permission permit
forbidden banned prohibited not_allowed may_not
measure measured measurement survey record records reading
shrink shrinking retreat retreating shrank recede loses drew smaller
grow grew grown growth advance forward increase rise bigger expand extended
fast quick quickly speed rapidly rate
building house hut home structure
destroyed buried burying ruined demolished wrecked
thick thickness deep depth
river stream brook water
dam barrier barrage
raise raised enlarge enlargement enlarged lift heighten
peak highest maximum most top
plant planted cultivate grow sow
farmer farmers grower growers agriculture
corn maize
instead place replace replacement substitute
approve approved accept accepted agree agreed adopted vote
reject rejected turned_down turn_down refuse refused decline declined denied
parliament politicians politician government council assembly lawmakers
pipeline conduit pipe
desert sahara sand dust
melt thaw melted melting
cover covers covered blanket blankets wrap cloth protect protection shield
accurate accuracy precise precision exact exactly within
equipment device tool instrument receiver apparatus hammer
require required requirements needs need needed necessary must
hardware processor cpu machine disk computer
memory ram
install installing installation set_up setup installed
encrypt encryption encrypted tls ssl secure certificate
connect connection connections connecting client clients user users simultaneous concurrent traffic
additional extra more another further each
limit maximum restriction cap
data documents records content contents writes information
outage power_cut blackout loss
log journal
merge merged folded combined joined combine
backup copy copies save saved replica replicas snapshot
restore recover recovering recovery restored
stop stopped shut_down shutdown halt off terminate
follower followers replica replicas secondary read-only copies
leader primary master main
crash crashes crashed fails failure failed lost dies broken
search look_for find query lookup searching
phrase phrases expression quotes wording
delete drop remove erase deleted removed
damaged corrupt corrupted broken defective
error errors fault mistake problem problems trouble wrong
undo undone go_back revert reverse roll_back rollback
upgrade upgrading migrate migrating update moving migration
old older previous earlier former
new newer latest recent current nowadays now today
yearly annual annually year per_year
role roles permission permissions right rights
make making mix prepare prepared produce create made build
leaven starter sourdough yeast
spoiled gone_bad go_bad rotten off mould bad ruined
fridge refrigerator cold cool
freeze frozen freezer deep_freeze
keep keeps kept store storing stored survive last preserve storage
ingredient ingredients flour quantities quantity amounts amount
ready done finished complete completed
oven heat bake baking baked hot temperature
temperature degrees hot °c heat
middle inside centre center core interior
cool cooling wait right_away immediately at_once
cut slice slices slicing carve
flat collapse collapsed spreads sunk
hole cavity gap opening
crust outside surface skin
pale brown dark darkens browned light
sour acidic acid tart
taste tastes flavour flavor
why because reason cause caused means
where place location located kept address
when date time day year
help aid support assistance service
begin beginning start first
end finish finished close closes closing last
open opens opening hours
buy purchase order bought
sell sold sale
job work employment occupation profession
doctor physician medical
ill sick disease illness
die died death dead killed
born birth birthday
marry married wife husband spouse wedding
live lives living reside resident residence
film movie picture
city town village municipality
country nation state
war battle conflict fighting
king monarch ruler emperor queen
language tongue spoken speak
population inhabitants people residents
size big large area dimensions
weight weigh weighs heavy mass
height tall high
age old years
colour color
rain wet snow
money currency euro dollars cash
tax taxes duty levy
law legal rule rules regulation
danger dangerous risk hazard unsafe
safe safety secure
fix repair solve solution resolve remedy
choose select pick option
show display shown view
send sent deliver delivered delivery shipping
change changed modify alter edit
name called title named
use used usage apply
supply supplies supplied provide provides feeds waters turns
discount reduction rebate reduced cheaper less
pensioner pensioners retired senior seniors elderly
big great large huge
closed shut close
final last
borrow lend lent loan
eat eaten food meal lunch dinner drink
break broke broken damage damaged damages
helper helpers volunteer volunteers
reply answer respond response
letter mail email write post
institution house museum
transport bus tram train metro subway
stroller pram buggy
baby infant nursing toddler
photo photos photograph photographs picture pictures image images
publish published publication print
build built construct constructed construction make made
clock watch timepiece
teach teacher training course lesson learn
holiday holidays vacation leave
shop store market
road street way
address location
team staff crew employees
attack assault hit
win won victory winner
lose lost defeat
think opinion believe view
important key main essential
admission entry entrance enter admit admitted entering
toddler toddlers infant infants baby babies child under young little_ones
teenager teenagers teen teens adolescent adolescents youth youngsters young
parent parents mother father mum mom dad guardian carer caregiver
swim swimming bathe bathing pool swimmer swimmers
lesson lessons class classes course courses instruction tuition coach coaching trainer
towel towels linen
locker lockers cabinet storage safe valuables belongings
wash shower showers bathe clean hygiene rinse
toilet toilets restroom restrooms lavatory bathroom wc
clothes clothing wear outfit dress garment garments attire swimwear
shoes footwear boots sandals
dirty soiled stained unclean filthy contaminated
clean cleaning cleaned cleaner rinse wipe descale scrub
disinfect sanitize sanitise sterilize sterilise chlorine germs
park parking parked car_park lot garage
hurt injured injury injuries wounded wound casualty casualties harm harmed
first_aid medic ambulance paramedic emergency lifeguard rescue
hospital clinic ward infirmary
medicine medication drug drugs pill pills tablet prescription
pain ache sore hurt hurts
pregnant pregnancy expecting birth maternity
maternity paternity parental childbirth newborn birth baby
adopt adopted adoption foster fostering
leave time_off absence away vacation holiday break off
salary wage wages pay paid earnings income remuneration money earn
raise increase increment promotion
bonus incentive reward premium
employee employees worker workers staff colleague colleagues personnel labour
employer company firm boss
hire hired recruit recruited employ employed
fire fired dismiss dismissed dismissal laid_off redundant redundancy lay_off sacked terminate
resign resigned quit leave notice step_down
retire retirement retired pension
contract agreement deal terms arrangement
sign signed signature initials
expense expenses cost costs spending claim reimbursement outlay
receipt receipts invoice invoices bill bills proof voucher
claim claims submit submitted file apply application
hotel hotels lodging accommodation room inn guesthouse
meal meals food dining restaurant subsistence per_diem breakfast
flight flights fly flying air airline plane
mileage kilometre kilometres kilometer mile miles distance
manager supervisor superior boss head line_manager
form forms paperwork document questionnaire
deadline due latest until cutoff no_later
late delay delayed overdue behind tardy
early soon promptly advance beforehand ahead
immediately instantly straight_away at_once promptly
bank account savings deposit branch
interest yield return percent rate annual
deposit deposits pay_in paid_in put credited
withdraw withdrawal withdrawals take_out cash
overdraft overdrawn negative debit in_the_red
balance amount funds money
transfer transfers wire send move remittance
card cards debit credit
stolen theft steal thief robbed lost missing
fraud fraudulent scam unauthorised unauthorized suspicious
password passcode pin code credentials login
login log_in sign_in sign_on authenticate authentication credentials
block blocked freeze frozen lock locked suspend suspended
abroad foreign overseas overseas international outside
loan loans borrow lending credit mortgage
debt owe owed owing arrears
minimum least lowest at_least
maximum most highest up_to no_more limit ceiling
complain complaint complaints grievance dispute ombudsman objection
appeal contest challenge objection
insurance insured cover covered policy coverage
guarantee guaranteed warranty warranties guarantees
broken defective faulty broke malfunction out_of_order
repair repairs fix mend service technician
spare replacement part parts
button buttons switch press key knob
turn_on switch_on power_on start activate enable enabled
turn_off switch_off power_off deactivate disable disabled standby
blink blinks blinking flash flashes flashing lamp light indicator led
noise noisy loud sound volume decibel
quiet silent silence hush
leak leaks leaking drip dripping
fill filled refill top_up
empty emptied drain drained
tank reservoir container
mug cup cups glass
coffee espresso beans grounds brew brewing
milk froth foam frother dairy
water liquid fluid
grind grinder grinding coarse fine
strong stronger strength intense robust
weak watery thin mild
limescale descale descaling scale calcium deposits
filter filters strainer
dishwasher wash washable
box package packaging carton contents included comes_with
manual instructions guide handbook
cable cord lead wire plug
plug socket outlet mains
watt watts wattage consumption energy power
stainless steel metal
plastic polymer
soil earth ground compost substrate dirt
pot pots container containers planter bucket tub
seed seeds seedling seedlings sow sowing germinate sprout
fertilizer fertiliser feed feeding nutrients nourish manure
watering water irrigate moisture moist damp
dry drought dried arid parched
sun sunlight sunny light bright shade
shade shaded shadow dark
frost freezing cold chill
prune pruning trim pinch cut_back remove
pest pests insect insects bug bugs aphid aphids vermin
fungus mildew blight disease mould rot
leaf leaves foliage
flower flowers blossom blossoms bloom blooming
fruit fruits crop yield harvest
harvest harvested pick picked ripe ripen gather
ripe ripen mature maturity ready
stake support cane trellis tie
balcony terrace patio
variety varieties type types kind kinds sort species cultivar
spring march april may
summer june july august
autumn fall september october november
winter december january february
bird birds fowl songbird species
migrate migration migratory fly_south journey travel move
wing wings feather feathers plumage
nest nests nesting breed breeding reproduce mate
egg eggs clutch lay hatch hatching
predator predators hunter prey enemy enemies
navigate navigation orient orientation compass find_their_way direction
star stars sky night celestial
magnetic magnetism field
fat fuel reserves energy
flock flocks group groups herd swarm
tag tagged ring ringed ringing track tracked tracking tracker transmitter monitor
scientist scientists researcher researchers academic biologist expert experts
study studies research investigation survey paper
experiment experiments trial test tested
evidence proof sign signs indication
climate warming weather
extinct extinction died_out vanished disappeared endangered threatened
endangered threatened rare protected vulnerable
animal animals creature creatures wildlife fauna beast
plant plants vegetation flora
tree trees wood forest woods woodland
island isle islands archipelago
mountain mountains hill summit peak ridge
volcano volcanic eruption erupted lava crater
earthquake quake tremor seismic
coast shore beach seaside coastline
sea ocean water bay
harbour harbor port dock quay
fish fishing fishery fishermen catch
settle settled settlers settlement colonise colonised colonists inhabit inhabited arrive arrived
native natives indigenous aboriginal original
discover discovered discovery found explorer explorers
explorer sailor navigator captain
rule ruled govern governed government reign administration
independent independence sovereign autonomous
president chairman chair leader head
elect elected election vote voting poll ballot
soldier soldiers army troops military
peace truce treaty ceasefire
slave slaves slavery bondage
religion religious church faith belief temple worship
festival celebration celebrate feast carnival holiday
tradition traditional custom customs
music song songs tune
dance dancing dances
art painting paintings artist sculpture
economy economic trade industry exports
export exports exported ship shipped sell
import imports imported
tourist tourists tourism visitors holidaymakers sightseeing
farm farming agriculture crops livestock
cattle cows livestock sheep
mine mining mines quarry
factory plant works mill facility manufacturing
fire blaze flames burn burned burning inferno
firefighter firefighters fire_brigade firemen crews
smoke fumes
explosion explode exploded blast
evacuate evacuated evacuation leave residents
witness witnesses eyewitness saw onlooker
investigate investigation inquiry probe investigators
blame responsible responsibility liable liability fault
arrest arrested detained custody caught
suspect suspects accused defendant
court trial judge judges tribunal hearing
sentence sentenced prison jail punished punishment
punish penalty penalties fine fined sanction sanctions
crime criminal offence offense
steal stole stolen theft robbery
protest protests demonstration rally march
strike strikes walkout
spokesperson spokesman spokeswoman said statement announced
announce announced announcement statement declared
mayor council municipality local_authority
neighbour neighbours neighbor neighbors residents locals nearby
compensation compensate damages payout
rebuild rebuilt reconstruct reconstruction restore restoration
toxic poisonous poison harmful hazardous
pollute pollution contamination contaminated emissions
chemical chemicals substance substances
air atmosphere breathe breathing
production output manufacture manufactured manufacturing produce
shift shifts working_hours schedule timetable rota
schedule timetable plan calendar programme program
weekend weekends saturday sunday saturdays sundays
weekday weekdays monday friday
morning mornings am dawn early
evening evenings night pm late dusk
noon midday lunch
daily every_day each_day per_day
weekly every_week each_week per_week
monthly every_month each_month per_month
often frequently frequent regularly times
always every all
never not no
sometimes occasionally
only solely exclusively just
group groups party parties team
family families household relatives
friend friends companion companions
partner spouse husband wife
single alone unaccompanied solo by_oneself
accompany accompanied supervised supervision with
elderly older senior seniors pensioner aged
membership member members subscription season_pass
ticket tickets pass passes admission
website online internet web site
queue line wait waiting
full crowded busy packed occupied
event events party celebration function
rent rental hire lease
lease tenancy rental rent
tenant tenants renter occupant
landlord owner lessor
house home flat apartment dwelling
kitchen cook cooking
garden yard
furniture chair table
door doors gate entrance
window windows pane
key keys lock
key keys setting option parameter
setting settings option options configuration configure parameter parameters preference flag
configure configuration set_up setup adjust customise customize settings
default defaults standard preset out_of_the_box
environment variable variables env
file files document
folder folders directory directories path
format formats syntax
reload reloaded refresh restart re-read
restart reboot relaunch
override overrides overridden precedence priority wins
precedence priority order first
log logs logging logged record records journal
verbose detailed debug detail details
debug debugging troubleshoot diagnose
timeout time_out timeouts seconds wait
retry retries retried again attempt attempts try
attempt attempts try tries
cache cached caching stored temporary
thread threads worker workers parallel concurrent
parallel simultaneous simultaneously concurrently at_once
proxy gateway
secret secrets password token tokens credential
hide hidden mask masked redact redacted conceal
plugin plugins extension extensions add-on addon module
version versions release releases
deprecated obsolete removed outdated
compatible compatibility works_with supports supported
support supports supported handle handles
convert conversion transform turn
import load read loaded
validate validation check checked verify verified
check checks verify inspect examine
warn warning warnings alert notice
ignore ignored skip skipped disregard
raise raised throws exception
exception exceptions error errors
invalid wrong incorrect malformed illegal
missing absent lacking not_there
unknown unrecognised unrecognized unexpected
automatic automatically by_itself unattended
manual manually by_hand
hidden secret invisible
public open everyone
private personal confidential own
share shared sharing
permission allowed consent authorisation authorization
licence license licensed licensing
download downloads fetch get
upload uploads send
size length dimension dimensions big
length long metres meters
width wide broad breadth
depth deep
distance far away kilometres
area surface square extent
temperature warm heat degrees heated
warm heated hot
cold cool chilly freezing
half fifty
double twice two
quarter three_months
percent percentage share proportion
number amount quantity count how_many
total sum overall altogether
average mean typical
approximately about around roughly nearly
increase rose rise grew growing more
decrease fell fall drop decline declined reduced less fewer shrink
cause causes caused reason due because led triggered
result results effect consequence outcome impact
prevent avoid stop keep_from protect
happen happens happened occur occurs occurred take_place
possible can able
difficult hard tough challenging
easy simple straightforward
dangerous hazardous risky unsafe
important significant essential vital
different differ differs difference distinct
same identical equal equally
similar alike like resemble
best ideal optimal recommended
recommend recommended suggest advised advice should
worst poorest
good suitable fit appropriate
bad poor
suitable fit appropriate right
strong powerful sturdy
fragile delicate breakable
heavy weighs weight
light lightweight
fast quick speed rapid swift
slow slowly sluggish
near nearby close closest adjacent vicinity
far distant remote
left remaining rest
right correct proper
return returned give_back bring_back send_back returns
exchange swap switch exchanged
complete finished whole entire
part portion section share
piece item unit
bottom base underneath below
side edge margin
front forward
back rear behind
inside indoors interior within
outside outdoors exterior outdoor
above over top
below under beneath
between among
before prior beforehand ahead
after following afterwards later
during while throughout
since from
until till
origin source come_from
known famous renowned popular well-known
ancient old historic historical
modern contemporary
century centuries hundred
originally first initially at_first
finally last eventually
tell inform informed notify notified notification report let_know
contact reach get_in_touch call email
ask request requested enquire inquire
answer reply respond
speak talk say
see watch look view observe
hear listen
eat feed diet consume consumed
drink beverage beverages
smoke smoking cigarette cigarettes tobacco
alcohol beer wine drinks
bring take carry
leave depart departure exit go
arrive arrival come
visit visiting attend
stay remain
join enrol enroll register sign_up registration
register registration enrol enroll sign_up
quit stop leave end
pause break interval
practise practice train exercise
exercise workout fitness sport
compete competition contest tournament race
record records best
prize award awards trophy
team squad side crew
"""


@cache
def _groups() -> dict[str, frozenset[str]]:
    """The terms that go with each term or phrase of the table; phrases as `called off`."""
    found: dict[str, set[str]] = {}
    for line in _TABLE.splitlines():
        entries = [entry.replace("_", " ") for entry in line.split()]
        group = {term for entry in entries if " " not in entry for term in terms(entry)}
        for entry in entries:
            for key in [entry] if " " in entry else terms(entry):
                found.setdefault(key, set()).update(group)
    return {key: frozenset(group) for key, group in found.items()}


def synonyms(question: str) -> dict[str, frozenset[str]]:
    """The terms that say much the same as each word of a question, as the word is written.

    Both words of a phrase such as "called off" have those of the phrase.
    """
    groups = _groups()
    words = _WORDS.findall(question)
    found: dict[str, set[str]] = {}
    for at, word in enumerate(words):
        _add(found, [word], (groups.get(term, frozenset()) for term in terms(word)))
        for length in range(2, MAX_PHRASE_WORDS + 1):
            phrase = words[at : at + length]
            _add(found, phrase, [groups.get(" ".join(phrase).casefold(), frozenset())])
    return {word: frozenset(group) for word, group in found.items()}


def _add(
    found: dict[str, set[str]], words: Iterable[str], groups: Iterable[frozenset[str]]
) -> None:
    for group in groups:
        for word in words if group else ():
            found.setdefault(word, set()).update(group)
