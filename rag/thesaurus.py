"""Words of a household that mean one thing, so that a question may use another than the paper.

A line is a group; its first word stands for all of them. Only words that are the same in nearly
every paper are here: "boiler" and "heating" are not. Must not know of stems or texts.
"""

_GROUPS = """
    begin start commence
    end finish conclude
    buy purchase
    build construct
    fix repair mend
    close shut
    choose select
    check inspect
    cancel terminate
    allow permit permission
    forbid prohibit ban
    organise organize arrange
    renew prolong extend
    fill refill
    answer reply respond response
    steal stole stolen theft thief
    burgle burglar burglary
    die death dead
    marry marriage wedding
    depart departure
    expiry expire
    refund reimburse reimbursement

    error fault defect
    illness ill sick sickness unwell disease
    injury wound
    pain ache
    allergy allergic
    dose dosage
    medicine medication drug
    ointment salve
    vaccine jab inoculation
    doctor physician gp
    dentist dental
    vet veterinary veterinarian

    child kid
    baby infant
    mother mum mom mummy
    father dad daddy
    grandmother grandma granny nan
    grandfather grandpa grandad
    aunt auntie
    neighbour neighbor
    guest visitor
    teacher instructor
    trainer coach
    pupil student
    headteacher headmaster headmistress principal
    nursery kindergarten daycare preschool
    term semester
    timetable schedule
    caretaker janitor concierge
    technician engineer
    tenant renter lodger
    adviser advisor consultant
    pet animal
    dog puppy
    cat kitten

    flat apartment
    lease tenancy
    cellar basement
    toilet loo lavatory wc
    cupboard cabinet closet
    shed hut
    lift elevator
    tap faucet
    lamp light
    curtain drape
    sofa couch
    socket outlet
    cable wire
    soil earth
    hoover vacuum
    wash laundry
    dryer drier
    fridge refrigerator
    stove cooker
    hob cooktop
    barbecue bbq
    rubbish trash garbage waste refuse
    letterbox mailbox postbox
    parcel package packet
    tv television telly
    screen display
    loudspeaker speaker
    headphones earphones
    photo photograph picture
    film movie
    torch flashlight
    username login
    password passcode passphrase
    wifi wireless wlan
    internet web broadband online
    phone telephone tel mobile
    app application

    car automobile
    bike bicycle
    lorry truck
    plane aeroplane airplane aircraft
    tyre tire
    windscreen windshield
    petrol gasoline
    motorway highway freeway
    pushchair pram stroller buggy
    luggage baggage suitcase
    rucksack backpack
    holiday vacation

    bill invoice
    excess deductible
    discount rebate
    salary wage
    warranty guarantee
    manual handbook
    licence license
    party celebration
    present gift
    concert recital

    potato spud
    aubergine eggplant
    courgette zucchini
    coriander cilantro
    prawn shrimp
    dessert pudding
    icing frosting
    dinner supper
    spirit alcohol
    nappy diaper
    dummy pacifier
    cot crib
    trousers pants
    jumper sweater pullover
    glasses spectacles
    pyjamas pajamas
    birthday birthdate

    colour color
    grey gray
    metre meter
    litre liter
    kilogram kg kilo
    gram g
    euro eur
    celsius c
    minute min
    hour h hr
    second sec
    year annual annually
    programme program
    centre center
    theatre theater
    fertiliser fertilizer
    quick fast rapid
    quiet silent
    loud noisy
"""

SYNONYMS = {
    word: words[0]
    for words in (line.split() for line in _GROUPS.splitlines() if line.strip())
    for word in words[1:]
}
"""A word → the one that stands for it; both lower case, as they are written."""
